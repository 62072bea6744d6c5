"""Ruby projects: bundler, rspec, minitest and rake."""

from pathlib import Path

from interlock.detection.found import Missing, Part
from tests.detection.machines import found

INSTALL = 'BUNDLE_PATH="$HOME/.bundle/packages" bundle install'


def test_a_gemfile_with_specs_runs_rspec_of_the_bundle(tmp_path: Path) -> None:
    files = {"Gemfile": "gem 'rspec'\n", "Gemfile.lock": "", "spec/two_spec.rb": "", "lib/two.rb": ""}
    assert found(tmp_path, files) == Part(
        name="Ruby",
        evidence=("Gemfile", "Gemfile.lock"),
        prepare=(INSTALL,),
        tests="bundle exec rspec",
        tests_from="files in spec",
        sources=2,
    )


def test_a_task_of_rake_is_run_by_its_name(tmp_path: Path) -> None:
    part = found(tmp_path, {"Rakefile": "Rake::TestTask.new(:unit) do |t|\nend\n", "lib/two.rb": ""})
    assert (part.tests, part.tests_from, part.prepare) == ("rake unit", "Rakefile", ())


def test_test_files_without_a_rakefile_are_loaded_one_after_another(tmp_path: Path) -> None:
    part = found(tmp_path, {"two.gemspec": "", "test/two_test.rb": ""})
    assert part.tests.startswith("ruby -I lib -I test -e 'Dir[")
    assert part.tests_from == "files in test"


def test_rails_runs_its_own_tests(tmp_path: Path) -> None:
    part = found(tmp_path, {"Gemfile": "", "bin/rails": "", "test/models/two_test.rb": ""})
    assert part.tests == "bundle exec ruby bin/rails test"


def test_a_machine_without_bundler_is_told_how_to_get_it(tmp_path: Path) -> None:
    part = found(tmp_path, {"Gemfile": "", ".rspec": ""}, "ruby")
    remedy = "install it: gem install bundler; on Debian: apt-get install bundler"
    assert part.missing == (Missing("bundler", remedy),)


def test_a_folder_with_a_rakefile_and_no_ruby_file_is_no_ruby_project(tmp_path: Path) -> None:
    assert found(tmp_path, {"Rakefile": "", "Makefile": "test:\n\ttrue\n"}).name == "make"
