"""Fits the calibration and measures it on projects left out. usage: calibrate.py CANDIDATES GATE_LOPO OUT_RS DATA [FIXTURE]

Candidate model: P(this candidate covers the question). Answer model: P(one of the best three does).
Each is a logistic regression on a dozen numbers; the measured project is never among those it is fitted on.
"""
import sys, pickle, json, numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
DEV = ('uv', 'nushell', 'go-task', 'phpboyscout')


def clip(x, a, b): return np.minimum(np.maximum(x, a), b)


def rows(ev, use_reader=True):
    r = clip(np.array([e['reader'] for e in ev]), -10, 10) if use_reader else np.zeros(len(ev))
    c = np.array([e['cosine'] for e in ev]); b = np.array([e['bm25'] for e in ev])
    def margin(x, lim):
        return np.array([clip(x[i] - max(np.delete(x, i), default=x[i]), -lim, lim) for i in range(len(x))])
    mb = max(b.max(), 1e-9) if len(b) else 1
    br = np.array([1 / e['bm25_rank'] if e['bm25_rank'] else 0 for e in ev]); dr = np.array([1 / e['dense_rank'] if e['dense_rank'] else 0 for e in ev])
    # places as rank fusion weighs them
    fused = np.array([sum(50 / (20 + e[k]) for k in ('bm25_rank', 'dense_rank') if e[k]) for e in ev])
    return np.stack([r, margin(r, 5), 5 * c, 5 * margin(c, 0.5), b / mb, br, dr, 2 * np.array([e['term_coverage'] for e in ev]), fused], 1)


def logit(p): return np.log(clip(p, 1e-4, 1 - 1e-4) / (1 - clip(p, 1e-4, 1 - 1e-4)))


def answer_row(ev, p, X):
    o = np.argsort(-p); l = np.sort(logit(p))[::-1]; l = np.concatenate([l, [-6] * 3])[:3]
    t = o[0]
    return np.array([l[0], l[1], X[t, 0], X[:, 0].max(), logit(np.array([1 - np.prod(1 - p[o[:3]])]))[0]])


def fit(cases, use_reader=True, C=0.3):
    X = np.concatenate([rows(m['ev'], use_reader) for m in cases]); y = np.concatenate([m['right'] for m in cases])
    w = np.concatenate([[3.0 if not m['held'] else 1.0] * len(m['ev']) for m in cases])
    m1 = LogisticRegression(C=C, max_iter=1000).fit(X, y, sample_weight=w)
    A, z, wa = [], [], []
    for m in cases:
        R = rows(m['ev'], use_reader); p = m1.predict_proba(R)[:, 1]; o = np.argsort(-p)[:3]
        A.append(answer_row(m['ev'], p, R)); z.append(int(any(m['right'][i] for i in o))); wa.append(3.0 if not m['held'] else 1.0)
    m2 = LogisticRegression(C=0.1, max_iter=1000).fit(np.array(A), z, sample_weight=wa)
    return m1, m2


def apply(m, m1, m2, use_reader=True):
    R = rows(m['ev'], use_reader); p = m1.predict_proba(R)[:, 1]; o = np.argsort(-p)
    return p, o, m2.predict_proba(answer_row(m['ev'], p, R)[None])[0, 1]


def measure(cases, use_reader, gate, C=0.3, quiet=False):
    out = []
    for d in DEV:
        m1, m2 = fit([m for m in cases if m['project'] != d and m['ev'] and (m['held'] or m['kind'] != 'not-a-question')], use_reader, C)
        for m in cases:
            if m['project'] == d:
                p, o, a = apply(m, m1, m2, use_reader)
                rk = next((k + 1 for k, i in enumerate(o) if m['right'][i]), 0)
                out.append(dict(id=m['id'], project=d, kind=m['kind'], a=a, p1=p[o[0]], rank=rk, q=gate.get(m['id'], 1.0), cited=[m['keys'][i] for i in o[:3]], p=[float(p[i]) for i in o[:3]]))
    return out


def report(out, label):
    a = [x for x in out if x['kind'] == 'answerable']; n = len(a)
    hit = [np.mean([0 < x['rank'] <= k for x in a]) for k in (1, 3, 10)]
    asked = [x for x in out if x['kind'] != 'not-a-question']
    f1 = lambda t: [x for x in out if x['p1'] >= t and x['q'] >= .5]
    print('by the best candidate alone:', {t: (len(g), round(np.mean([0 < x['rank'] <= 3 for x in g]), 2), round(sum(0 < x['rank'] <= 3 for x in g) / n, 2), round(np.mean([0 < x['rank'] <= 1 for x in g]), 2)) for t in (.9, .8, .7, .65, .6, .55, .5, .45, .4, .3) for g in [f1(t)] if g})
    print(f"{label}: hit@1/3/10 {hit[0]:.3f} {hit[1]:.3f} {hit[2]:.3f}  AUC right-in-3 vs rest {roc_auc_score([int(0 < x['rank'] <= 3) for x in asked], [x['a'] for x in asked]):.3f}  answerable/gap {roc_auc_score([int(x['kind'] == 'answerable') for x in asked], [x['a'] for x in asked]):.3f}")
    cand = [x for x in out if x['q'] >= 0.5]
    rng = np.random.default_rng(1)
    for t in (0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.3):
        def f(s):
            g = [x for x in s if x['a'] >= t and x['q'] >= 0.5]; r = sum(0 < x['rank'] <= 3 for x in g); na = sum(x['kind'] == 'answerable' for x in s)
            return (r / len(g) if g else np.nan), r / max(1, na), len(g)
        p, c, k = f(out)
        bs = [f([out[i] for i in rng.integers(0, len(out), len(out))])[:2] for _ in range(300)]
        lo, hi = np.nanpercentile([b[0] for b in bs], [2.5, 97.5]) if k else (np.nan, np.nan); cl, ch = np.percentile([b[1] for b in bs], [2.5, 97.5])
        gaps = [x for x in out if x['kind'] == 'gap']; nq = [x for x in out if x['kind'] == 'not-a-question']
        print(f"| {t:.2f} | {k} | {p:.2f} [{lo:.2f}, {hi:.2f}] | {c:.2f} [{cl:.2f}, {ch:.2f}] | {np.mean([x['a'] >= t and x['q'] >= .5 for x in gaps]):.2f} | {np.mean([x['a'] >= t and x['q'] >= .5 for x in nq]):.2f} | {np.mean([x['a'] < t and x['q'] >= .5 for x in nq]):.2f} |")


if __name__ == '__main__':
    cases = [m for m in pickle.load(open(sys.argv[1], 'rb')) if m['ev']]
    dev_ids = [json.loads(l)['id'] for d in DEV for l in open(f'{sys.argv[4]}/{d}/cases.jsonl', encoding='utf-8')] if len(sys.argv) > 4 else []
    gate = dict(zip(dev_ids, np.load(sys.argv[2]))) if dev_ids else {}
    report(measure(cases, False, gate), 'retrieval only'); out = measure(cases, True, gate); report(out, 'with the reader')
    json.dump(out, open('lopo.json', 'w'), default=float)
    m1, m2 = fit([m for m in cases if m['held'] or m['kind'] != 'not-a-question'])
    print('candidate', m1.coef_[0].round(3), m1.intercept_); print('answer', m2.coef_[0].round(3), m2.intercept_)
    if len(sys.argv) > 5:    # fixture of the crate's tests: the evidence of three questions and what follows from it
        pick = [cases[i] for i in (0, 70, 150)]
        keys = ('reader', 'cosine', 'bm25', 'bm25_rank', 'dense_rank', 'term_coverage')
        json.dump([dict(evidence=[[e[k] for k in keys] for e in m['ev']], p=apply(m, m1, m2)[0].tolist(), any=float(apply(m, m1, m2)[2])) for m in pick], open(sys.argv[5], 'w'))
    f = lambda v: ', '.join(f'{x:.5f}' for x in v)
    open(sys.argv[3], 'w').write(f'const CANDIDATE: [f32; 10] = [{f(np.append(m1.coef_[0], m1.intercept_))}];\nconst ANSWER: [f32; 6] = [{f(np.append(m2.coef_[0], m2.intercept_))}];\n')
