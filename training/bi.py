"""Fine-tunes the upper layers of the encoder for retrieval. usage: bi.py DATA BASE OUT"""
import sys, random, time, torch, torch.nn.functional as F, numpy as np, os
from tokenizers import Tokenizer
from data import *
from model import *
root, base, out = sys.argv[1:4]
EPOCHS = float(sys.argv[4]) if len(sys.argv) > 4 else 1
random.seed(5); torch.manual_seed(5); torch.set_num_threads(2)
tk = Tokenizer.from_file(os.path.join(base, 'tokenizer.json')); tk.no_padding()
low, up = load_base(os.path.join(base, 'model.safetensors'))
QL, PL, B, LR = 64, 128, 32, 1e-4

def enc(text, n):
    tk.enable_truncation(n)
    return tk.encode(text).ids
def batch(list_ids):
    n = max(map(len, list_ids))
    ids = torch.zeros(len(list_ids), n, dtype=torch.long); m = torch.zeros(len(list_ids), n)
    for i, x in enumerate(list_ids):
        ids[i, :len(x)] = torch.tensor(x); m[i, :len(x)] = 1
    return ids, m
projs = train_projects(root)
cache = {}
def passage(p, i):
    k = (p.name, i)
    if k not in cache:
        cache[k] = enc(p.secs[i][2] + '\n' + clean(p.secs[i][3])[:1200], PL)
    return cache[k]
items = {}; held = []
for p in projs:
    rows = []
    for c in p.cases:
        if c['kind'] != 'answerable': continue
        g = p.gold(c['expect'])
        if not g: continue
        q = c['title'] + '\n' + c['description']
        neg = p.gold(c.get('near', [])) + [i for i, s in p.search(q, 12) if i not in g]
        neg = [n for n in neg if n not in g]
        rows.append((enc(clean(q), QL), g, neg, p))
    if p.name in HELD: held += rows[::3]
    else: items[p.name] = rows
print('train', sum(map(len, items.values())), 'held', len(held), flush=True)

def evaluate():
    up.eval(); t0 = time.time(); hit = n = 0; mrr = 0
    with torch.no_grad():
        for name in HELD:
            p = next(x for x in projs if x.name == name)
            rows = [r for r in held if r[3] is p]
            pool_ids = sorted({i for r in rows for i in r[1] + r[2][:10]})
            ev = lambda lists: torch.cat([embed(low, up, *batch(lists[a:a+32])) for a in range(0, len(lists), 32)])
            P = ev([passage(p, i) for i in pool_ids]); Q = ev([r[0] for r in rows])
            S = Q @ P.T
            for r, s in zip(rows, S):
                order = [pool_ids[j] for j in s.argsort(descending=True)[:10].tolist()]
                rank = next((k for k, i in enumerate(order) if i in r[1]), None)
                n += 1; hit += rank is not None and rank < 3; mrr += 0 if rank is None else 1 / (rank + 1)
    print(f'held hit@3 {hit/n:.3f} mrr {mrr/n:.3f} n {n} ({time.time()-t0:.0f}s)', flush=True)
    up.train()
evaluate()
batches = []
for name, rows in items.items():
    for e in range(int(np.ceil(EPOCHS))):
        r = rows[:]; random.shuffle(r)
        batches += [(e, r[i:i+B]) for i in range(0, len(r) - B // 2, B)]
random.shuffle(batches); batches.sort(key=lambda x: x[0]); batches = [b for _, b in batches]
batches = batches[:int(len(batches) * EPOCHS / np.ceil(EPOCHS))]
opt = torch.optim.AdamW(up.parameters(), lr=LR, weight_decay=0.01)
N = len(batches); up.train(); t0 = time.time(); avg = None
for step, rows in enumerate(batches):
    for g in opt.param_groups: g['lr'] = LR * min(1, (step + 1) / (0.1 * N)) * max(0.05, 1 - step / N)
    p = rows[0][3]
    pos = [random.choice(r[1]) for r in rows]
    neg = [random.choice(r[2][:6]) if r[2] else None for r in rows]
    sel = pos + [n for n in neg if n is not None]
    uniq = list(dict.fromkeys(sel)); where = {s: i for i, s in enumerate(uniq)}
    Q = embed(low, up, *batch([r[0] for r in rows]), 0.1)
    P = embed(low, up, *batch([passage(p, i) for i in uniq]), 0.1)
    S = Q @ P.T * 20
    m = torch.zeros_like(S, dtype=torch.bool)
    for a, r in enumerate(rows):
        for g_ in r[1]:
            if g_ in where and g_ != pos[a]: m[a, where[g_]] = True
    S = S.masked_fill(m, -1e4)
    tgt = torch.tensor([where[x] for x in pos])
    loss = F.cross_entropy(S, tgt)
    opt.zero_grad(); loss.backward(); torch.nn.utils.clip_grad_norm_(up.parameters(), 1.0); opt.step()
    avg = loss.item() if avg is None else 0.95 * avg + 0.05 * loss.item()
    if step % 10 == 0: print(step, N, f'loss {avg:.3f} {time.time()-t0:.0f}s', flush=True)
    if step % 40 == 39: torch.save(up.state_dict(), out)
torch.save(up.state_dict(), out)
evaluate()
