"""Trains the reader. usage: train_cover.py LISTS BASE BI OUT SECONDS [CHECKPOINT]   (BASE may be a model file, BI and CHECKPOINT `-`)"""
import sys, random, time, pickle, os, torch, torch.distributed as dist, torch.nn.functional as F, numpy as np
from model import *
from export import nets
lists_f, base, bi, out, budget = sys.argv[1:5] + [float(sys.argv[5])]
# one thread a process and one exchange of gradients a step: on shared cores far faster than threads within an operation
dist.init_process_group('gloo'); rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(3); torch.set_num_threads(1)
checkpoint = sys.argv[6] if len(sys.argv) > 6 else '-'
low, _, net = nets(base, bi, checkpoint)
again = base.endswith('.bin') or checkpoint != '-'
lists = pickle.load(open(lists_f, 'rb'))[rank::world]
random.seed(int(os.environ.get('SEED', 70 if again else 3)) + rank)
LR, HEAD_LR, Q = (8e-5, 5e-4, 6) if again else (1e-4, 1e-3, 6)
head = [p for n, p in net.named_parameters() if not n.startswith('upper')]
opt = torch.optim.AdamW([dict(params=net.upper.parameters(), lr=LR, base=LR), dict(params=head, lr=HEAD_LR, base=HEAD_LR)], weight_decay=0.01)
cache = {}
def states(seqs):
    """Layer-3 states of token lists, computed once each and kept as bfloat16."""
    new = [s for s in dict.fromkeys(map(tuple, seqs)) if s not in cache]
    new.sort(key=len)
    with torch.no_grad():
        for a in range(0, len(new), 16):
            part = new[a:a + 16]; n = len(part[-1])
            ids = torch.zeros(len(part), n, dtype=torch.long); m = torch.zeros(len(part), n)
            for i, s in enumerate(part): ids[i, :len(s)] = torch.tensor(s); m[i, :len(s)] = 1
            x = low(ids, m).to(torch.bfloat16)
            for i, s in enumerate(part): cache[s] = x[i, :len(s)].clone()
    n = max(map(len, seqs))
    x = torch.zeros(len(seqs), n, HID); m = torch.zeros(len(seqs), n)
    for i, s in enumerate(seqs): x[i, :len(s)] = cache[tuple(s)].float(); m[i, :len(s)] = 1
    return x, m
def pick(l):
    """(passages, labels) of one question, hard ones first; labels 1 covers, 0 does not."""
    f = l['found']
    if l['kind'] == 'answerable':
        neg = [random.choice(l['near'])] if l['near'] and random.random() < 0.7 else []
        if not neg and l['sib'] and random.random() < 0.2: neg = [random.choice(l['sib'])]
        # one of those that search puts first, one of all that the program would read
        neg += random.sample(f[:3], min(1, len(f))) + random.sample(f[3:], min(1, len(f[3:])))
        return [random.choice(l['pos'])] + neg, [1] + [0] * len(neg)
    ps = [random.choice(l['near'])] if l['near'] else []
    if l['kind'] == 'near-miss': ps += random.sample(f[:6], min(3 - len(ps), len(f)))
    return ps, [0] * len(ps)
def epochs():
    while True:
        order = [l for l in lists if l['kind'] != 'not-a-question' or random.random() < 0.4]
        random.shuffle(order)
        # neighbours of like length keep the padding small
        for a in range(0, len(order) - Q, Q * 16):
            block = sorted(order[a:a + Q * 16], key=lambda l: len(l['q']))
            parts = [block[b:b + Q] for b in range(0, len(block), Q)]
            random.shuffle(parts)
            yield from parts
        print('epoch done', flush=True)
net.train(); t0 = time.time(); step = 0; avg = None; accs = []
for rows in epochs():
    el = time.time() - t0
    go = torch.tensor([el]); dist.broadcast(go, 0); el = go.item()
    if el > budget: break
    f = min(1, (step + 1) / (40 if again else 60)) * max(0.02, 1 - el / budget)
    for g in opt.param_groups: g['lr'] = g['base'] * f
    qs, ps, ys, owner, nm = [], [], [], [], []
    for k, l in enumerate(rows):
        p, y = pick(l)
        for a, b in zip(p, y): qs.append(l['q']); ps.append(a); ys.append(b); owner.append(k)
    if not ps: ps, qs, ys, owner = [rows[0]['found'][0]], [rows[0]['q']], [0], [0]
    xq, qm = states(qs); xp, pm = states(ps)
    s = net(xq, qm, xp, pm, 0.1)
    y = torch.tensor(ys, dtype=torch.float); own = torch.tensor(owner)
    bce = F.binary_cross_entropy_with_logits(s, y * 0.95 + 0.025)
    # listwise with an empty seat: the score 0 stands for "none of these"
    lw = 0
    for k in range(len(rows)):
        m = own == k
        if not m.any(): continue
        sk = torch.cat([s[m], torch.zeros(1)]); yk = y[m]
        t = int(yk.argmax()) if yk.any() else len(yk)
        lw = lw + F.cross_entropy(sk[None], torch.tensor([t]))
    loss = bce + lw / len(rows)
    opt.zero_grad(); loss.backward()
    params = [p for p in net.parameters() if p.requires_grad]
    flat = torch.cat([p.grad.reshape(-1) for p in params]); dist.all_reduce(flat); flat /= world
    at = 0
    for p in params: p.grad.copy_(flat[at:at + p.numel()].view_as(p)); at += p.numel()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step()
    step += 1
    v = np.array([bce.item(), float(lw.detach()) / len(rows)]); avg = v if avg is None else 0.97 * avg + 0.03 * v
    if rank == 0 and step % 20 == 0: print(step, f'bce {avg[0]:.4f} list {avg[1]:.4f} {el:.0f}s cache {len(cache)}', flush=True)
    if rank == 0 and step % 100 == 0: torch.save(net.state_dict(), out)
if rank == 0: torch.save(net.state_dict(), out); print('saved', step, flush=True)
