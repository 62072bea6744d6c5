"""Commands whose preview must equal their result: a list by hand, and more from a grammar with a fixed seed."""

import random
from collections.abc import Iterator

HAND = (
    "sed -i s/one/two/ a.txt",
    "sed -i 's/^/# /' src/main.py src/util.py",
    "mv a.txt b.txt",
    "mv src/main.py top.py",
    "rm -r docs",
    "rm -rf src && mkdir src && echo new > src/new.py",
    "mkdir -p deep/er/still && touch deep/er/still/file",
    "mkdir empty2",
    "rmdir empty",
    "ln -s a.txt link2",
    "ln -sfn docs link",
    "rm link && ln -s nowhere link",
    "ln a.txt hard.txt",
    "ln a.txt hard.txt && echo more >> hard.txt",
    "chmod 755 a.txt",
    "chmod -R go-rwx docs",
    "chmod 700 empty && chmod 600 src/util.py",
    "touch a.txt new.txt",
    "tar cf all.tar docs src && mkdir out && tar xf all.tar -C out && rm all.tar",
    "printf 'x' | dd of=data.bin bs=1 seek=1000000 conv=notrunc 2>/dev/null",
    "truncate -s 5M sparse && printf end >> sparse",
    "rm -r docs && echo file > docs",
    "rm a.txt && mkdir a.txt && echo in > a.txt/in",
    "rm -r docs && echo file > docs && rm docs && mkdir docs && echo again > docs/again.md",
    "mv docs manual",
    "mv src lib && sed -i s/import/IMPORT/ lib/main.py",
    "cp -a src src2 && rm src2/util.py",
    "git apply change.patch",
    "python3 -c \"open('p.txt','w').write('é\\n'); import os; os.rename('a.txt','r.txt'); os.mkdir('pd', 0o711)\"",
    "python3 -c \"import os; os.rename('docs', 'renamed')\"",
    "python3 -c \"import shutil; shutil.rmtree('src'); shutil.copytree('docs', 'src')\"",
    "echo broken > half.txt; exit 3",
    "echo more >> twin1",
    "rm twin1",
    "sed -i s/t/T/ twin2",
    "cp twin1 twin1.new && mv twin1.new twin1",
    "ln -f a.txt twin2",
    "chmod 400 run.sh && echo x > other",
    "chmod 555 docs",
    "chmod u+w closed && echo in > closed/in && chmod u-w closed",
    "find . -name '*.py' -exec sed -i s/def/DEF/ {} +",
    "find docs -type f -delete",
    "for i in 1 2 3 4 5; do echo $i > n$i; done; rm n3",
    "printf 'a\\nb\\n' > 'with space'; printf c > 'quote\"name'; printf d > \"$(printf 'odd\\377name')\"",
    "printf 'no newline' > a.txt",
    "printf 'a\\r\\nb\\r\\n' > a.txt",
    ": > a.txt",
    "install -m 750 a.txt bin-a",
    "patch -p1 < change.patch",
    "head -c 100000 /dev/zero > zeros",
    "mkdir x && mv docs src x/ && mv x/docs . && rm -r x",
    "ls -la; cat a.txt; true",
    "umask 077; echo s > private; mkdir privdir",
    "rm -f nothing-here; rm -rf link",
    "cp -P link link3; cp link deref || true",
    "sort -o a.txt a.txt; tac docs/guide.md > docs/ediug.md",
    "awk '{print NR\": \"$0}' docs/guide.md > t && mv t docs/guide.md",
    "perl -pi -e 's/o/0/g' a.txt docs/guide.md",
    "split -l 1 docs/guide.md part.",
    "rm docs/guide.md; mkdir docs/guide.md; rmdir docs/guide.md; echo back > docs/guide.md",
    "exec 3> held; echo via >&3; mv held moved; echo late >&3",
    "(sleep 0.01; echo late > late.txt) & wait",
    "mkdir -p m/n && chmod 000 m/n && chmod 111 m",
    "rm -r empty && ln -s docs empty",
    "rm link && mkdir link && echo x > link/x",
    "mv link renamed-link; mv data.bin empty/",
)
PATHS = (
    "a.txt",
    "docs",
    "docs/guide.md",
    "src",
    "src/main.py",
    "empty",
    "link",
    "run.sh",
    "data.bin",
    "n/e/w",
    "x",
    "y z",
)


def generated(number: int, seed: int = 11) -> Iterator[str]:
    """Scripts of one to four commands on random paths; some of the commands fail."""
    chosen = random.Random(seed)
    forms = (
        "echo {r} > '{a}'",
        "echo {r} >> '{a}'",
        "rm -rf '{a}'",
        "mkdir -p '{a}'",
        "mv '{a}' '{b}'",
        "cp -a '{a}' '{b}'",
        "ln -s '{a}' '{b}'",
        "ln '{a}' '{b}'",
        "chmod {m} '{a}'",
        "touch '{a}'",
        "sed -i 's/e/E{r}/' '{a}'",
        "truncate -s {r} '{a}'",
        "python3 -c \"import os; os.rename('{a}', '{b}')\"",
    )
    for _ in range(number):
        steps = (
            chosen.choice(forms).format(
                a=chosen.choice(PATHS),
                b=chosen.choice(PATHS),
                r=chosen.randrange(1000),
                m=chosen.choice(("600", "644", "700", "755", "u+x", "go=")),
            )
            for _ in range(chosen.randint(1, 4))
        )
        yield "; ".join(steps)
