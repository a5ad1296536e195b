"""Compares the program's figures with PyTorch's on the dequantised weights and on the f32 ones. usage: agree.py BASE BI COVER IN OUT"""
import sys, json, torch, numpy as np
from export import *
base, bi, cover, fin, fout = sys.argv[1:6]
low, up, c, sd = tensors(base, bi, cover)
rows = [json.loads(l) for l in open(fout)]; ins=[json.loads(l) for l in open(fin)]
torch.set_num_threads(1)
for label in ('f32', 'int8'):
    if label == 'int8':
        dq = dequantised(sd)
        low.load_state_dict({k: v for k, v in dq.items() if not k.startswith(('dense.', 'cover.'))})
        up.load_state_dict({k[6:]: v for k, v in dq.items() if k.startswith('dense.')})
        c.load_state_dict({k[6:]: v for k, v in dq.items() if k.startswith('cover.')})
    c.eval(); up.eval(); d = []; e = []
    for r in rows[:6]:
        with torch.no_grad():
            q = torch.tensor([r['question_ids']]); qm = torch.ones(q.shape)
            for ids, s in zip(r['passage_ids'], r['cover']):
                p = torch.tensor([ids]); pm = torch.ones(p.shape)
                d.append(abs(c(low(q, qm), qm, low(p, pm), pm).item() - s))
            v = embed(low, up, q, qm)[0].numpy()
            e.append(float(v @ np.array(r['question'])))
    print(label, 'cover max diff', max(d), 'mean', np.mean(d), 'cos min (question cut differs if long)', min(e), np.median(e))
