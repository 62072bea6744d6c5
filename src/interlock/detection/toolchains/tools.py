"""The tools whose version a project can name, and where version managers install them."""

from msgspec import Struct


class Tool(Struct, frozen=True, kw_only=True):
    name: str
    program: str
    keys: tuple[str, ...]  # its names in .tool-versions, mise.toml and devcontainer.json
    files: tuple[str, ...] = ()  # files that hold nothing but a version
    # Programs by version. `*` stands for a folder whose name has the version; `~` for the home.
    places: tuple[str, ...] = ()
    package: str = ""  # Debian's package, for the version of a program in /usr
    remedy: str = ""  # how to install one version
    install: str = ""  # how to install any version


NODE = Tool(
    name="Node",
    program="node",
    keys=("nodejs", "node"),
    files=(".nvmrc", ".node-version"),
    places=(
        "$NVM_DIR/versions/node/*/bin/node",
        "~/.nvm/versions/node/*/bin/node",
        "~/.local/share/fnm/node-versions/*/installation/bin/node",
        "~/.volta/tools/image/node/*/bin/node",
        "~/.nodenv/versions/*/bin/node",
        "~/.asdf/installs/nodejs/*/bin/node",
        "~/.local/share/mise/installs/node/*/bin/node",
    ),
    package="nodejs",
    remedy="install it, for example by 'nvm install {version}' or 'mise install node@{version}'",
    install="install Node.js; on Debian: apt-get install nodejs npm",
)
GO = Tool(
    name="Go",
    program="go",
    keys=("golang", "go"),
    files=(".go-version",),
    places=(
        "/usr/lib/go-*/bin/go",
        "~/sdk/go*/bin/go",
        "~/.goenv/versions/*/bin/go",
        "~/.asdf/installs/golang/*/go/bin/go",
        "~/.local/share/mise/installs/go/*/bin/go",
    ),
    package="golang-go",
    remedy="install it, for example by 'mise install go@{version}' or from the project's download page",
    install="install Go; on Debian: apt-get install golang-go",
)
JAVA = Tool(
    name="Java",
    program="java",
    keys=("java",),
    files=(".java-version",),
    places=(
        "/usr/lib/jvm/*/bin/java",
        "~/.sdkman/candidates/java/*/bin/java",
        "~/.jdks/*/bin/java",
        "~/.asdf/installs/java/*/bin/java",
        "~/.local/share/mise/installs/java/*/bin/java",
    ),
    remedy="install a JDK {version}; on Debian: apt-get install openjdk-{version}-jdk-headless",
    install="install a JDK; on Debian: apt-get install default-jdk-headless",
)
RUBY = Tool(
    name="Ruby",
    program="ruby",
    keys=("ruby",),
    files=(".ruby-version",),
    places=(
        "~/.rbenv/versions/*/bin/ruby",
        "~/.rvm/rubies/*/bin/ruby",
        "~/.rubies/*/bin/ruby",
        "/opt/rubies/*/bin/ruby",
        "~/.asdf/installs/ruby/*/bin/ruby",
        "~/.local/share/mise/installs/ruby/*/bin/ruby",
    ),
    package="ruby",
    remedy="install it, for example by 'rbenv install {version}' or 'mise install ruby@{version}'",
    install="install Ruby; on Debian: apt-get install ruby bundler",
)
PHP = Tool(
    name="PHP",
    program="php",
    keys=("php",),
    files=(".php-version",),
    places=(
        "~/.phpenv/versions/*/bin/php",
        "~/.asdf/installs/php/*/bin/php",
        "~/.local/share/mise/installs/php/*/bin/php",
    ),
    package="php-cli",
    remedy="install it, for example by 'phpenv install {version}' or 'mise install php@{version}'",
    install="install PHP; on Debian: apt-get install php-cli",
)
