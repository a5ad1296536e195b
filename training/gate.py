"""Trains the gate and measures it. usage: gate.py DATA FEATURES_BINARY OUT C/NLBSE/TRAIN/SETS LOPO_OUT

The weights of the three sources are the totals their classes share evenly: NLBSE'24, the training projects, the four sets.
"""
import csv, json, os, random, struct, subprocess, sys
import numpy as np, scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold
from noise import wrap

root, binary, out, conf, lopo = sys.argv[1:6]
C, wn, wt, wd = map(float, conf.split('/'))
csv.field_size_limit(1 << 30)
N = 1 << 16
rng = random.Random(4)
nl = [(r['title'], r['body'] or '', int(r['label'] == 'question'), r['repo'], r['label'])
      for r in csv.DictReader(open(os.path.join(root, 'question/nlbse24-train.csv'), encoding='utf-8'))]
tr, dev = [], []
for d in sorted(os.listdir(os.path.join(root, 'train'))):
    f = os.path.join(root, 'train', d, 'pairs.jsonl')
    if os.path.isfile(f):
        for c in map(json.loads, open(f, encoding='utf-8')):
            t, x = c['title'], c['description']
            if rng.random() < 0.35:
                t, x = wrap(t, x, rng)
            tr.append((t, x, int(c['kind'] != 'not-a-question'), d))
for d in ('uv', 'nushell', 'go-task', 'phpboyscout'):
    for c in map(json.loads, open(os.path.join(root, d, 'cases.jsonl'), encoding='utf-8')):
        dev.append((c['title'], c['description'], int(c['kind'] != 'not-a-question'), d, c['id']))


def feats(rows):
    o = subprocess.run([binary], input='\n'.join(json.dumps([r[0], r[1]]) for r in rows), capture_output=True, text=True, check=True).stdout
    I, J, V = [], [], []
    for i, l in enumerate(o.splitlines()):
        for b, v in json.loads(l):
            I.append(i); J.append(b); V.append(v)
    return sp.csr_matrix((V, (I, J)), shape=(len(rows), N))


Xn, Xt, Xd = feats(nl), feats(tr), feats(dev)
yn, yt, yd = (np.array([r[2] for r in x]) for x in (nl, tr, dev))
gd = np.array([r[3] for r in dev])
# Rare features count more; the scale is folded into the weights, so the program knows nothing of it.
df = np.asarray((sp.vstack([Xn, Xt]) > 0).sum(0)).ravel() + 1
idf = np.log((len(yn) + len(yt)) / df) / 4 + 0.2
D = sp.diags(idf)
Xn, Xt, Xd = Xn @ D, Xt @ D, Xd @ D


def weights(y, total):
    w = np.zeros(len(y))
    for c in (0, 1):
        w[y == c] = total / 2 / max(1, (y == c).sum())
    return w


def fit(*parts):
    X = sp.vstack([p[0] for p in parts]); y = np.concatenate([p[1] for p in parts])
    w = np.concatenate([weights(p[1], p[2]) for p in parts])
    return LogisticRegression(C=C, solver='liblinear', tol=1e-3).fit(X, y, sample_weight=w)


ps = np.zeros(len(yn))
for a, b in StratifiedKFold(5, shuffle=True, random_state=7).split(np.zeros(len(yn)), [r[3] + r[4] for r in nl]):
    ps[b] = fit((Xn[a], yn[a], wn), (Xt, yt, wt), (Xd, yd, wd)).predict_proba(Xn[b])[:, 1]
for t in (0.35, 0.4, 0.45, 0.5, 0.55, 0.6):
    print(f'nlbse 5-fold at {t}: P {precision_score(yn, ps > t):.3f} R {recall_score(yn, ps > t):.3f} F1 {f1_score(yn, ps > t):.3f}')
pd = np.zeros(len(yd))
for g in sorted(set(gd)):
    pd[gd == g] = fit((Xn, yn, wn), (Xt, yt, wt), (Xd[gd != g], yd[gd != g], wd * .75)).predict_proba(Xd[gd == g])[:, 1]
    print(g, 'accuracy left out', ((pd > .5) == yd)[gd == g].mean().round(3))
print('accuracy', {t: round(float(((pd > t) == yd).mean()), 3) for t in (0.3, 0.4, 0.5, 0.6)})
print('taken for questions', [dev[i][4] for i in np.where((pd > .5) & (yd == 0))[0]])
print('missed', [dev[i][4] for i in np.where((pd <= .5) & (yd == 1))[0]])
np.save(lopo, pd)
m = fit((Xn, yn, wn), (Xt, yt, wt), (Xd, yd, wd))
w = m.coef_[0] * idf
s = np.abs(w).max() / 127
open(out, 'wb').write(struct.pack('<ff', s, m.intercept_[0]) + np.rint(w / s).astype(np.int8).tobytes())
