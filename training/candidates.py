"""Candidates of each measured question with their evidence. usage: candidates.py DATA PREPARE VECTORS OUT BASE COVER [CASES_PER_HELD_PROJECT] [TOP]"""
import sys, json, subprocess, pickle, random, numpy as np
from data import *
import os, torch
from export import tensors, dequantised
root, prepare, vec, out, base, cover = sys.argv[1:7]
per, top = int(sys.argv[7]) if len(sys.argv) > 7 else 80, int(sys.argv[8]) if len(sys.argv) > 8 else 10
torch.set_num_threads(1)
low, _, net, _ = tensors(base, '-', cover); net.eval()
t0 = __import__('time').time(); V = pickle.load(open(vec, 'rb')); rng = random.Random(9); res = []


def run(binary, rows):
    o = subprocess.run([binary], input='\n'.join(map(json.dumps, rows)), capture_output=True, text=True)
    sys.stderr.write(o.stderr[-300:])
    return [json.loads(l) for l in o.stdout.splitlines()]


def read(rows):
    """The reader's scores."""
    for r in run(prepare, rows):
        ps = r['passages']
        if not ps: yield []; continue
        with torch.no_grad():
            q = torch.tensor([r['question']]); xq = low(q, torch.ones(q.shape))
            n = max(map(len, ps)); ids = torch.zeros(len(ps), n, dtype=torch.long); m = torch.zeros(len(ps), n)
            for i, x in enumerate(ps): ids[i, :len(x)] = torch.tensor(x); m[i, :len(x)] = 1
            yield net(xq.expand(len(ps), -1, -1), torch.ones(len(ps), q.shape[1]), low(ids, m), m).tolist()


names = os.environ.get('ONLY', 'uv,nushell,go-task,phpboyscout,' + ','.join(HELD)).split(',')
for name in names:
    held = name in HELD
    p = Project(root, f'{root}/train/{name}', 'pairs.jsonl') if held else Project(root, f'{root}/{name}', 'cases.jsonl')
    if name not in V: continue
    S, Q = V[p.name]
    pick = list(range(len(p.cases)))
    if held:
        pick = sorted(rng.sample([i for i in pick if p.cases[i]['kind'] != 'not-a-question'], per))
    ess = [r['essence'] for r in run(prepare, [dict(title=p.cases[i]['title'], description=p.cases[i]['description'], passages=[]) for i in pick])]
    req, meta = [], []
    for i, e in zip(pick, ess):
        c = p.cases[i]
        bm = [(j, s) for j, s in p.search(e, 50) if s > 0]
        cos = Q[i] @ S.T
        dn = np.argsort(-cos)[:50]
        br = {j: k + 1 for k, (j, _) in enumerate(bm)}; bs = dict(bm); dr = {int(j): k + 1 for k, j in enumerate(dn)}
        rrf = {j: (1 / (20 + br[j]) if j in br else 0) + (1 / (20 + dr[j]) if j in dr else 0) for j in set(br) | set(dr)}
        order = sorted(rrf, key=lambda j: -rrf[j])
        # headings without text answer nothing
        order = [j for j in order if len(p.secs[j][3].strip()) >= 20][:top]
        qt = set(p.base.toks(e))
        ev = [dict(sec=j, rrf=rrf[j], cosine=float(cos[j]), bm25=float(bs.get(j, 0)), bm25_rank=br.get(j, 0), dense_rank=dr.get(j, 0),
                   term_coverage=len(qt & set(p.toks[j])) / max(1, len(qt))) for j in order]
        keys = [key(p.secs[j][0], p.secs[j][1]) for j in order]
        gold = set(c['expect'])
        right = [int(k in gold or k.split('#')[0] in gold) for k in keys]
        ranks = {}
        for name, o in (('bm25', [j for j, _ in bm]), ('dense', dn.tolist()), ('rrf', order)):
            ranks[name] = next((k + 1 for k, j in enumerate(o) if key(p.secs[j][0], p.secs[j][1]) in gold or p.secs[j][0] in gold), 0)
        meta.append(dict(project=p.name, held=held, id=c['id'], kind='gap' if c['kind'] == 'near-miss' else c['kind'], ev=ev, keys=keys, right=right, ranks=ranks))
        req.append(dict(title=c['title'], description=c['description'], passages=[[p.secs[j][2], p.secs[j][3]] for j in order]))
    print(name, 'retrieved', round(__import__('time').time() - t0), flush=True)
    for m, r in zip(meta, read(req)):
        for e, s in zip(m['ev'], r): e['reader'] = s
    res += meta
    a = [m for m in meta if m['kind'] == 'answerable']
    print(p.name, len(meta), {n: [round(np.mean([0 < m['ranks'][n] <= k for m in a]), 3) for k in (1, 3, 10)] for n in ('bm25', 'dense', 'rrf')}, flush=True)
    pickle.dump(res, open(out, 'wb'))
