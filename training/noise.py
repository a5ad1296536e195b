"""Wraps a question in what issue forms, version tables and logs add."""
import random

OS = ['macOS 14.5', 'Ubuntu 22.04', 'Windows 11', 'Debian 12 (amd64)', 'Fedora 40 x86_64', 'Arch Linux', 'NixOS 24.05', 'Alpine 3.20']
HELLO = ['Hi,', 'Hello!', 'Hey team,', 'Hi all, first of all thanks for this great project!', 'Good morning,', 'Dear maintainers,']
BYE = ['Thanks!', 'Thank you in advance.', 'Cheers', 'Any hint is appreciated.', 'Thanks for your help!', 'Best regards']
HEAD = ['### Question', '### Description', '## Summary', '**Describe the issue**', '### What happened?', '### Describe your question', '### Your question', '### Problem']
LOG = ['DEBUG resolved configuration in 12ms', 'INFO  starting up', '2024-05-12T10:11:12Z INFO loading plugin core', 'TRACE cache: miss for 8f3a',
       '[10:32:11] worker 3 idle', '    at Object.run (/srv/app/dist/index.js:120:14)', '  File "/usr/lib/python3/site.py", line 12, in main', '0x00007f8a1c']


def wrap(title, text, rng):
    if rng.random() < 0.5:
        text = rng.choice(HELLO) + '\n\n' + text
    if rng.random() < 0.4:
        text = text + '\n\n' + rng.choice(BYE)
    v = f'{rng.randint(0, 5)}.{rng.randint(0, 60)}.{rng.randint(0, 20)}'
    kind = rng.randint(0, 4)
    if kind == 0:
        text = f'{rng.choice(HEAD)}\n\n{text}\n\n### Version\n\n{v}\n\n### Operating system\n\n{rng.choice(OS)}\n\n### Additional context\n\n_No response_'
    elif kind == 1:
        log = '\n'.join(rng.choice(LOG) for _ in range(rng.randint(4, 14)))
        text = f'{text}\n\n<details><summary>verbose log</summary>\n\n```\n{log}\n```\n</details>'
    elif kind == 2:
        text = f'- [x] I searched the existing issues\n- [x] I read the documentation\n\n{rng.choice(HEAD)}\n{text}\n\n| key | value |\n| --- | --- |\n| version | {v} |\n| os | {rng.choice(OS)} |'
    elif kind == 3:
        log = '\n'.join(rng.choice(LOG) for _ in range(rng.randint(3, 10)))
        text = f'{v} on {rng.choice(OS)}\n\n{text}\n\n```\n{log}\n```'
    else:
        text = f'**Version** {v} **OS** {rng.choice(OS)}\n\n{text}\n\n<!-- please fill in the template -->'
    return title, text
