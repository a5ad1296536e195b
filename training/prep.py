"""Builds the reader's lists. usage: prep.py DATA PREPARE_BINARY OUT VECTORS..."""
import sys, json, subprocess, random, pickle
import numpy as np
from data import *
from noise import wrap
root, binary, out, *vectors = sys.argv[1:]
rng = random.Random(11)
V = {name: pair for f in vectors for name, pair in pickle.load(open(f, 'rb')).items()}

def fused(p, e, q):
    """What the program would put before the reader: lexical and dense search, fused by rank; headings alone left out."""
    rank = {}
    for order in ([i for i, s in p.search(e, 30) if s > 0], np.argsort(-(V[p.name][0] @ q))[:30].tolist()):
        for k, i in enumerate(order): rank[i] = rank.get(i, 0) + 1 / (21 + k)
    return [i for i in sorted(rank, key=lambda i: -rank[i]) if len(p.secs[i][3].strip()) >= 20]

def prepare(rows):
    inp = '\n'.join(json.dumps(r) for r in rows)
    o = subprocess.run([binary], input=inp, capture_output=True, text=True, check=True).stdout
    return [json.loads(l) for l in o.splitlines()]

lists = []
for p in train_projects(root):
    if p.name in HELD: continue
    cases = p.cases
    raw = []
    for c in cases:
        t, d = c['title'], c['description']
        if rng.random() < 0.3: t, d = wrap(t, d, rng)
        raw.append((t, d))
    ess = [r['essence'] for r in prepare([dict(title=t, description=d, passages=[]) for t, d in raw])]
    req = []
    for c, (t, d), e, q in zip(cases, raw, ess, V[p.name][1]):
        gold = p.gold(c['expect'])[:6]; near = p.gold(c.get('near', []))[:2]
        near = [n for n in near if n not in gold]
        if c['kind'] == 'answerable' and not gold: continue
        found = [i for i in fused(p, e, q) if i not in gold and i not in near][:10]
        sib = [i for i, s in enumerate(p.secs) if gold and s[0] == p.secs[gold[0]][0] and i not in gold and i not in near and len(s[3]) > 80]
        rng.shuffle(sib)
        ids = gold + near + found + sib[:2]
        req.append((c, len(gold), len(near), len(found), dict(title=t, description=d, passages=[[p.secs[i][2], p.secs[i][3]] for i in ids])))
    for (c, g, n, f, _), r in zip(req, prepare([x[4] for x in req])):
        ps = r['passages']
        lists.append(dict(project=p.name, kind=c['kind'], q=r['question'], pos=ps[:g], near=ps[g:g + n], found=ps[g + n:g + n + f], sib=ps[g + n + f:]))
    print(p.name, len(lists), flush=True)
pickle.dump(lists, open(out, 'wb'))
print('q', np.mean([len(l['q']) for l in lists]), 'p', np.mean([len(x) for l in lists for x in l['pos'] + l['near']]), np.mean([len(x) for l in lists for x in l['found']]))
