"""Trains the gate. usage: gate.py DATA FEATURES_BINARY OUT"""
import sys, csv, json, subprocess, os, struct, random, numpy as np, scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.metrics import f1_score, precision_score, recall_score
from noise import wrap
root, binary, out = sys.argv[1:4]
csv.field_size_limit(1 << 30)
N = 1 << 16
rng = random.Random(4)
nl = [(r['title'], r['body'] or '', int(r['label'] == 'question'), r['repo'], r['label']) for r in csv.DictReader(open(os.path.join(root, 'question/nlbse24-train.csv'), encoding='utf-8'))]
tr, dev = [], []
for d in sorted(os.listdir(os.path.join(root, 'train'))):
    f = os.path.join(root, 'train', d, 'pairs.jsonl')
    if os.path.isfile(f):
        for c in map(json.loads, open(f, encoding='utf-8')):
            t, x = c['title'], c['description']
            if rng.random() < 0.35: t, x = wrap(t, x, rng)
            tr.append((t, x, int(c['kind'] != 'not-a-question'), d))
for d in ('uv', 'nushell', 'go-task', 'phpboyscout'):
    for c in map(json.loads, open(os.path.join(root, d, 'cases.jsonl'), encoding='utf-8')):
        dev.append((c['title'], c['description'], int(c['kind'] != 'not-a-question'), d, c['id']))

def feats(rows):
    o = subprocess.run([binary], input='\n'.join(json.dumps([r[0], r[1]]) for r in rows), capture_output=True, text=True, check=True).stdout
    I, J, V = [], [], []
    for i, l in enumerate(o.splitlines()):
        for b, v in json.loads(l): I.append(i); J.append(b); V.append(v)
    return sp.csr_matrix((V, (I, J)), shape=(len(rows), N))
Xn, Xt, Xd = feats(nl), feats(tr), feats(dev)
yn, yt, yd = (np.array([r[2] for r in x]) for x in (nl, tr, dev))
gd = np.array([r[3] for r in dev])
# class-balanced and set-balanced weights
def weights(y, total): 
    w = np.zeros(len(y)); 
    for c in (0, 1): w[y == c] = total / 2 / max(1, (y == c).sum())
    return w
def fit(parts, C):
    X = sp.vstack([p[0] for p in parts]); y = np.concatenate([p[1] for p in parts]); w = np.concatenate([weights(p[1], p[2]) for p in parts])
    return LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(X, y, sample_weight=w)
best = None
for C in ([float(sys.argv[4].split('/')[0])] if len(sys.argv) > 4 else (1, 3, 10)):
    for wn, wt, wd in ([tuple(map(float, sys.argv[4].split('/')[1:]))] if len(sys.argv) > 4 else ((1500, 1500, 300), (1500, 700, 300))):
        ps = np.zeros(len(yn))
        for a, b in StratifiedKFold(5, shuffle=True, random_state=7).split(np.zeros(len(yn)), [r[3] + r[4] for r in nl]):
            m = fit([(Xn[a], yn[a], wn), (Xt, yt, wt), (Xd, yd, wd)], C)
            ps[b] = m.predict_proba(Xn[b])[:, 1]
        f1 = {t: round(f1_score(yn, ps > t), 3) for t in (0.35, 0.4, 0.45, 0.5, 0.55, 0.6)}
        pd = np.zeros(len(yd))
        for g in set(gd):
            m = fit([(Xn, yn, wn), (Xt, yt, wt), (Xd[gd != g], yd[gd != g], wd * .75)], C)
            pd[gd == g] = m.predict_proba(Xd[gd == g])[:, 1]
        acc = {t: round(float(((pd > t) == yd).mean()), 3) for t in (0.3, 0.4, 0.5, 0.6, 0.7)}
        print(C, wn, wt, wd, 'nlbse F1', f1, 'P/R@.5', round(precision_score(yn, ps > .5), 3), round(recall_score(yn, ps > .5), 3), 'LOPO acc', acc, flush=True)
        if len(sys.argv) > 4:
            np.save('gate_lopo.npy', pd)
            print('false pos', [dev[i][4] for i in np.where((pd > .5) & (yd == 0))[0]]); print('false neg', [dev[i][4] for i in np.where((pd <= .5) & (yd == 1))[0]])
            m = fit([(Xn, yn, wn), (Xt, yt, wt), (Xd, yd, wd)], C)
            w = m.coef_[0]; s = np.abs(w).max() / 127
            open(out, 'wb').write(struct.pack('<ff', s, m.intercept_[0]) + np.rint(w / s).astype(np.int8).tobytes())
