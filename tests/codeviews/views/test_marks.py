"""The curated view keeps the marked bodies and no others, in every language."""

import pytest

from interlock.codeviews.views.view import view

MARKED = [
    ("csharp", "class A { [X, core_logic] void f() { s(); } }"),
    ("csharp", "class A { [X][core_logic(1)] void f() { s(); } }"),
    ("csharp", "class A { [method: core_logic] void f() { s(); } }"),
    ("csharp", "class A { [A.B.core_logic] int P { get { s(); } } }"),
    ("php", "<?php\n#[A, core_logic]\nfunction f() { s(); }"),
    ("php", "<?php\n#[A(1)] #[\\X\\core_logic(2)]\nfunction f() { s(); }"),
    ("php", "<?php\nclass A { #[core_logic] public function f() { s(); } }"),
    ("rust", "#[a]\n#[x::core_logic(a)]\nfn f() { s() }"),
    ("rust", "impl A { #[core_logic] pub fn f() { s() } }"),
    ("java", "class A { @x.core_logic(1) void f() { s(); } }"),
    ("java", "class A { @core_logic A() { s(); } }"),
    ("typescript", "class A { @core_logic() m() { s() } }"),
    ("typescript", "class A { @a @core_logic m = () => { s() } }"),
    ("typescript", "class A { @a.core_logic /* c */ static async m(): void { s() } }"),
    ("javascript", "class A { @core_logic m = function () { s() } }"),
    ("javascript", "class A { @core_logic m() { s() } }"),
    ("javascript", "class A { @core_logic get m() { s() } }"),
    ("python", "@core_logic\ndef f():\n    s()\n"),
    ("python", "@größe.core_logic\ndef f():\n    s()\n"),
    ("python", "@a . core_logic ( 1 )\ndef f():\n    s()\n"),
    ("python", "@core_logic # c\n@x\nasync def f():\n    s()\n"),
    ("python", "def f(): # [HOT]\n    s()\n"),
    ("python", "def f(a, # [HOT]\n  b):\n    s()\n"),
    ("python", "def f():\n    'd' # [HOT]\n    s()\n"),
    ("python", "def f():\n    s()\n    # [HOT]\n"),
    ("python", "def f():\n    s()\n    def g():\n        # a [HOT] b\n        pass\n"),
    ("python", "class A:\n    @x\n    def f():\n        s() #[HOT]\n"),
    ("python", "def f():\n    x = f'{s() # [HOT]\n}'\n"),
    ("python", "def f():\n    # [HOT]\n    s()\nx = 1\n"),
    ("python", "def f(\n): # [HOT]\n s()\n"),
    ("python", "def f():\n    s(\n        # [HOT]\n    )\n"),
    ("go", "package a\nfunc f() { /* [HOT] */ s() }"),
    ("c", "int f(int a /* [HOT] */) { s(); }"),
    ("bash", "f() { # [HOT]\n s\n}\n"),
    ("ruby", "def f\n  s # [HOT]\nend\n"),
    ("ruby", "def f\n  # [HOT]\n  s\nend\n"),
    ("ruby", "def f\n=begin\n[HOT]\n=end\n  s\nend\n"),
    ("ruby", "def f\n  s\n  # [HOT]\nend\n"),
    ("ruby", "def f # [HOT]\n  s\nend\n"),
    ("php", "<?php function f() { # [HOT]\n s(); }"),
    ("csharp", "class A { void f() { /// [HOT]\n s(); } }"),
    ("rust", "fn f() { s() //! [HOT]\n}"),
    ("cpp", "void f() { s(); // [HOT]\n}"),
    ("java", "class A { /** x */ void f() { s(); /** [HOT] */ } }"),
    ("cpp", "A::A() : a(1) /* [HOT] */ { s(); }"),
    ("typescript", "const f = () => { s() // [HOT]\n}"),
    ("tsx", "const f = () => <div>{/* [HOT] */ s()}</div>"),
    ("bash", "f() {\n  s\n  cat <<E\n$(x # [HOT]\n)\nE\n}\n"),
]

NOT_MARKED = [
    ("python", "@core_logic_2\ndef f():\n    s()\n"),
    ("python", "@core_logicé\ndef f():\n    s()\n"),
    ("python", "@x(core_logic)\ndef f():\n    s()\n"),
    ("python", "@core_logic.x\ndef f():\n    s()\n"),
    ("python", "@my_core_logic\ndef f():\n    s()\n"),
    ("python", "@x # @core_logic\ndef f():\n    s()\n"),
    ("python", "def f():\n    s('# [HOT]')\n"),
    ("python", "def f():\n    '''# [HOT]'''\n    s()\n"),
    ("python", "# [HOT]\ndef f():\n    s()\n# [HOT]\n"),
    ("python", "def f():\n    s(f'# [HOT] {a}')\n"),
    ("python", "def f():\n    s() # [hot]\n"),
    ("python", "def f():\n    s() # [ HOT ]\n"),
    ("python", "def f(): s()\n# [HOT]\n"),
    ("python", "class A:\n    def f(self):\n        s()\n    # [HOT]\n    x = 1\n"),
    ("python", "@core_logic\nclass A:\n    def f(self):\n        s()\n"),
    ("csharp", "class A { [X(core_logic)] void f() { s(); } }"),
    ("csharp", "[core_logic] class A { void f() { s(); } }"),
    ("php", "<?php\nfunction f($a = '# [HOT]') { s(); }"),
    ("javascript", "const a = `// [HOT]`, f = () => { s(`// [HOT]`) }"),
    ("javascript", "f = () => { s(/[HOT]/) }"),
    ("bash", "f() {\n  s\n  cat <<E\n# [HOT]\nE\n}\n"),
    ("ruby", "def f\n  s <<~A\n    # [HOT]\n  A\nend\n"),
    ("rust", 'fn f() { s(r#"// [HOT]"#) }'),
    ("java", 'class A { @X("core_logic") void f() { s(); } }'),
    ("java", 'class A { void f() { s("/* [HOT] */"); } }'),
    ("go", "package a\nfunc f() { s(`// [HOT]`) }"),
    ("rust", '#[doc = "core_logic"]\nfn f() { s() }'),
    ("rust", "#[core_logic]\nstruct A;\nfn f() { s() }"),
    ("typescript", "class A { @core_logic a = 1; f() { s() } }"),
    ("javascript", "class A { @core_logic a = 1; f() { s() } }"),
    ("csharp", "class A { [core_logic] int a; void f() { s(); } }"),
    ("tsx", "const f = () => { return <div>// [HOT]</div> }\n//s"),
    ("java", "class A { @X /* @core_logic */ void f() { s(); } }"),
    ("java", "class A { @X // core_logic\n void f() { s(); } }"),
]


@pytest.mark.parametrize(("language", "source"), MARKED)
def test_a_marked_body_stays(language: str, source: str) -> None:
    assert view("curated", source.encode(), language).decode() == source


@pytest.mark.parametrize(("language", "source"), NOT_MARKED)
def test_a_body_that_only_seems_marked_goes(language: str, source: str) -> None:
    assert view("curated", source.encode(), language) == view("skeleton", source.encode(), language) != source.encode()
