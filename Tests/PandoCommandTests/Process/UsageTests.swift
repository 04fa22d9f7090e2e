import Foundation
import PandoFixtures
import Testing

@testable import PandoCommand

/// What holds for every command: help, usage errors, stores that are not there.
@Suite struct UsageTests {
  private static let names = CommandLineTool.commands.map { $0.declaration.name }

  @Test func `the commands are those that people know`() {
    #expect(
      UsageTests.names == [
        "import", "get", "set", "delete", "parents", "ls", "query", "index", "collections",
        "collection", "changes", "watch", "cursors", "retention", "stat", "estimate", "top",
        "verify", "dump", "load",
        "copy", "kv", "queue", "replica", "completion", "manual", "demo",
      ])
  }

  @Test(arguments: names)
  func `help shows usage and an example and ends well`(name: String) throws {
    let help = try PandoProcess.output(name, "--help")
    #expect(help.hasPrefix("pando \(name): "))
    #expect(help.contains(try Regex("\nUsage:\n  pando \(name)[ \n]")))
    #expect(help.contains("\nExample"))
    #expect(try PandoProcess.output("help", name) == help)
    for line in help.split(separator: "\n") where !line.contains("pando") {
      #expect(line.count <= 100, "too long for a terminal: \(line)")
    }
  }

  @Test func `bash completes commands, options and stores`() throws {
    let run = try PandoProcess.shell(
      #"""
      source <(pando completion bash)
      complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pando; echo "${COMPREPLY[*]}"; }
      complete_words pando col
      complete_words pando dump store --
      complete_words pando help que
      complete_words pando ls /us
      complete_words pando query store Book all --format j
      """#)
    #expect(run.errors.isEmpty, "\(run)")
    let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0] == "collections collection")
    #expect(lines[1].hasSuffix("--help"))
    #expect(lines[2] == "query queue")
    #expect(lines[3] == "/usr")
    #expect(lines[4] == "json jsonl")
  }

  @Test func `the man page has each command, and no line that man takes for an order`() throws {
    let page = try PandoProcess.output("manual")
    for name in UsageTests.names { #expect(page.contains("\n.SS \(name)\n.nf\n")) }
    for line in page.split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(line.contains(/^\.(TH|SH|SS|B|I|nf|fi)\b/), "\(line)")
    }
    #expect(try PandoProcess.output("completion", "zsh").hasPrefix("#compdef pando\n"))
    #expect(try PandoProcess.failure(2, "completion", "fish").contains("bash or zsh"))
    #expect(try PandoProcess.output("--version").contains(/^pando \d+\.\d+\.\d+\n$/))
  }

  @Test(arguments: ["--help", "-h", "help"])
  func `help without a command lists all`(word: String) throws {
    let help = try PandoProcess.output(word)
    for name in UsageTests.names { #expect(help.contains("\n  \(name) ")) }
  }

  @Test(arguments: [
    ([], "pando: a command is missing; see: pando --help"),
    (["imprt"], "pando: “imprt” is no command (did you mean “import”?); see: pando --help"),
    (
      ["ls", "s", "--cuont"],
      "pando ls: unknown option --cuont (did you mean --count?); see: pando ls --help"
    ),
    (["get", "s"], "pando get: ID is missing (the node's identifier); see: pando get --help"),
    (["ls", "s", "--limit", "x"], "pando ls: --limit takes a number that is 0 or more, not “x”"),
    (["stat", "a", "b"], "pando stat: “b” is one argument too many; see: pando stat --help"),
    (
      ["import", "s", "/dev/null"],
      "pando import: nothing says what a node is; give --root TYPE:FIELD or "
        + "--map PROPERTY=TYPE:FIELD, see: pando import --help"
    ),
    (
      ["import", "s", "/dev/null", "--root", "T"],
      "pando import: --root takes TYPE:FIELD, not “T”"
    ),
    (
      ["import", "s", "/dev/null", "--root", "T:f", "--keep-going"],
      "pando import: --keep-going skips lines, so it needs --lines; "
        + "without --lines a file is imported as a whole or not at all"
    ),
    (
      ["collection", "s", "k", "sort"],
      "pando collection: “sort” is none of append, insert, move, remove; "
        + "see: pando collection --help"
    ),
    (
      ["collection", "s", "k", "move", "1"],
      "pando collection: move takes FROM TO; see: pando collection --help"
    ),
    (
      ["help", "imprt"], "pando: “imprt” is no command (did you mean “import”?); see: pando --help"
    ),
    (
      ["collection", "s", "k", "append", "x", "--limit", "1"],
      "pando collection: --limit is for lists, not for append; see: pando collection --help"
    ),
    (
      ["kv", "s", "t", "get", "k", "--limit", "1"],
      "pando kv: --limit is for scan; see: pando kv --help"
    ),
    (
      ["query", "s", "Book", "all", "--order", ":desc"],
      "pando query: --order takes FIELD or FIELD:desc, not “:desc”"
    ),
    (
      ["index", "s", "made"],
      "pando index: “made” is none of list, add, drop, check; see: pando index --help"
    ),
    (["index", "s", "add", "T"], "pando index: add takes TYPE FIELD; see: pando index --help"),
    (
      ["index", "s", "list", "T"], "pando index: list takes nothing more; see: pando index --help"
    ),
    (
      ["index", "s", "drop", "T", "f", "--json"],
      "pando index: --json is for list and check, not for drop; see: pando index --help"
    ),
    (["kv", "s", "t", "get"], "pando kv: get takes KEY; see: pando kv --help"),
    (
      ["kv", "s", "t", "get", "0", "--hex"],
      "pando kv: KEY “0” is not hexadecimal; give two digits for each byte, or leave out --hex"
    ),
  ])
  func `a wrong command line ends with status 2 and one line`(
    arguments: [String], line: String
  ) throws {
    let outcome = try PandoProcess.run(arguments)
    #expect(outcome.status == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors == line + "\n")
  }

  @Test(arguments: [
    ["get", "STORE", "x"], ["delete", "STORE", "x"], ["parents", "STORE", "x"], ["ls", "STORE"],
    ["query", "STORE", "T", "all"], ["index", "STORE", "list"], ["index", "STORE", "check"],
    ["index", "STORE", "add", "T", "f"], ["index", "STORE", "drop", "T", "f"],
    ["collections", "STORE"], ["collection", "STORE", "k"], ["changes", "STORE"],
    ["collection", "STORE", "k", "append", "x"], ["stat", "STORE"], ["verify", "STORE"],
    ["dump", "STORE"], ["copy", "STORE", "STORE.copy"], ["kv", "STORE", "t", "get", "k"],
    ["kv", "STORE", "t", "delete", "k"], ["kv", "STORE", "t", "scan"],
  ])
  func `a store that is not there is status 1, and is not created`(arguments: [String]) throws {
    try withTemporaryDirectory { directory throws in
      let store = directory + "/absent"
      let outcome = try PandoProcess.run(
        arguments.map { $0.replacingOccurrences(of: "STORE", with: store) })
      #expect(outcome.status == 1)
      #expect(outcome.output.isEmpty)
      #expect(
        outcome.errors == "pando \(arguments[0]): \(store): there is no store; check the path, "
          + "or create one with: pando import \(store) FILE\n")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
  }
}
