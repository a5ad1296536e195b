"""Reads the projects: sections with their heading path, questions, BM25 candidates."""
import json, os, re, sys, random
import bm25s

HELD = ('helm', 'poetry', 'svelte-kit')


def tools(root):
    sys.path.insert(0, os.path.join(root, 'tools'))
    import evallib, baseline
    return evallib, baseline


def load_sections(root, folder):
    """[(path, anchor, heading path, body)]"""
    lib, _ = tools(root)
    out = []
    for p, t in lib.pages(os.path.join(folder, 'corpus')):
        if p.endswith('.go'):
            continue
        secs = lib.sections(t)
        fm = re.match(r'---\n(.*?)\n---', t, re.S)
        m = re.search(r'^title:\s*(.+)$', fm.group(1), re.M) if fm else None
        page = m.group(1).strip().strip('"\'') if m else ''
        if not any(s[1] == 1 for s in secs) and not page:
            page = os.path.splitext(os.path.basename(p))[0].replace('-', ' ').replace('_', ' ')
        crumbs = []
        for a, l, h, b in secs:
            crumbs = [c for c in crumbs if c[0] < l] + ([(l, h)] if l else [])
            path = [c[1] for c in crumbs]
            if page and (not path or path[0] != page):
                path = [page] + path
            out.append((p, a, ' > '.join(path), b))
    return out


def key(p, a):
    return f'{p}#{a}' if a else p


class Project:
    def __init__(self, root, folder, cases):
        _, self.base = tools(root)
        self.name = os.path.basename(folder)
        self.secs = load_sections(root, folder)
        self.id = {key(s[0], s[1]): i for i, s in enumerate(self.secs)}
        self.cases = [json.loads(l) for l in open(os.path.join(folder, cases), encoding='utf-8')]
        self.toks = [self.base.toks(s[2] + ' ' + s[2] + ' ' + s[0].replace('/', ' ').replace('-', ' ') + '\n' + s[3]) for s in self.secs]
        self.bm = bm25s.BM25(k1=1.2, b=0.75)
        self.bm.index(self.toks, show_progress=False)

    def search(self, q, k=20):
        t = self.base.toks(q)
        if not t:
            return []
        ids, sc = self.bm.retrieve([t], k=min(k, len(self.secs)), show_progress=False)
        return [(int(i), float(s)) for i, s in zip(ids[0], sc[0])]

    def gold(self, keys):
        """Section numbers of expect / near entries; a path without anchor is any section of the page (page text first)."""
        out = []
        for k in keys:
            if k in self.id:
                out.append(self.id[k])
            elif '#' not in k:
                out += [i for i, s in enumerate(self.secs) if s[0] == k]
        return out


def train_projects(root):
    t = os.path.join(root, 'train')
    return [Project(root, os.path.join(t, d), 'pairs.jsonl') for d in sorted(os.listdir(t)) if os.path.isdir(os.path.join(t, d))]


def dev_projects(root):
    return [Project(root, os.path.join(root, d), 'cases.jsonl') for d in ('uv', 'nushell', 'go-task', 'phpboyscout')]


def clean(text):
    """Markdown down to words: no fences, table rules, link targets, tags."""
    out, fence = [], False
    for line in text.split('\n'):
        l = line.strip()
        if l.startswith('```') or l.startswith('~~~'):
            fence = not fence
            continue
        if not l or not l.strip('-|:=*_ '):
            continue
        if not fence:
            l = re.sub(r'\]\([^)]*\)', '', l)
            l = re.sub(r'<[a-zA-Z/!][^>]*>', '', l)
            l = re.sub(r'[\[\]|*#`]', ' ', l)
        l = ' '.join(l.split())
        if l:
            out.append(l)
    return '\n'.join(out)
