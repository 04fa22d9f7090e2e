import Testing

@testable import PandoCommand

@Suite struct ArgumentParserTests {
  private static let declaration = CommandDeclaration(
    name: "sample", summary: "takes all kinds of arguments",
    positionals: [.store, Positional("FILE", count: .optional, "a file")],
    options: [
      .flag("--lines", "line by line"),
      .value("--limit", "N", "at most so many"),
      .value("--map", "RULE", repeats: true, "a rule"),
    ],
    examples: [.init("pando sample S", "runs it")])

  private func parse(_ arguments: String...) throws -> ParsedArguments {
    try ArgumentParser(declaration: ArgumentParserTests.declaration).parse(arguments)
  }

  @Test func `options and arguments stand in any order`() throws {
    let parsed = try parse("--lines", "store", "--map", "a", "--limit=7", "-", "--map=b=c")
    #expect(parsed.positionals == ["store", "-"])
    #expect(parsed.has("--lines"))
    #expect(parsed.values("--map") == ["a", "b=c"])
    #expect(try parsed.count("--limit") == 7)
  }

  @Test func `two dashes end the options`() throws {
    let parsed = try parse("store", "--", "--lines")
    #expect(parsed.positionals == ["store", "--lines"])
    #expect(!parsed.has("--lines"))
  }

  @Test(arguments: [["--help"], ["-h"], ["--nonsense", "--help"], ["a", "b", "c", "--help"]])
  func `help is found whatever else is wrong`(arguments: [String]) throws {
    let parser = ArgumentParser(declaration: ArgumentParserTests.declaration)
    #expect(try parser.parse(arguments).wantsHelp)
  }

  @Test func `help behind two dashes is an argument`() throws {
    let parsed = try parse("--", "--help")
    #expect(!parsed.wantsHelp)
    #expect(parsed.positionals == ["--help"])
  }

  @Test(arguments: [
    (["store", "--line"], "unknown option --line (did you mean --lines?)"),
    (["store", "-x"], "unknown option -x"),
    ([], "STORE is missing (the store's directory)"),
    (["a", "b", "c"], "“c” is one argument too many"),
    (["a", "--limit"], "--limit needs a value: --limit N"),
    (["a", "--lines=1"], "--lines takes no value"),
    (["a", "--limit", "1", "--limit", "2"], "--limit is given twice"),
  ])
  func `a wrong argument is a usage error that names it`(arguments: [String], reason: String) {
    let parser = ArgumentParser(declaration: ArgumentParserTests.declaration)
    let expected = CommandError(.usage, reason, remedy: "see: pando sample --help")
    #expect(throws: expected) { try parser.parse(arguments) }
  }

  @Test(arguments: ["-1", "x", "1.5", ""])
  func `a count is a number from zero up`(text: String) throws {
    let parsed = try parse("store", "--limit=\(text)")
    #expect(throws: CommandError.self) { try parsed.count("--limit") }
  }

  @Test func `the help shows usage, options and an example`() {
    #expect(
      HelpText.command(ArgumentParserTests.declaration) == """
        pando sample: takes all kinds of arguments

        Usage:
          pando sample STORE [FILE] [--lines] [--limit N] [--map RULE]…

        Arguments:
          STORE  the store's directory
          FILE   a file

        Options:
          --lines     line by line
          --limit N   at most so many
          --map RULE  a rule
          --help      print this help

        Example:
          # runs it
          pando sample S

        """)
  }
}
