import PandoStore
import PandoSystem
import Testing

@Suite struct FilterPatternTests {
  private func finds(_ pattern: String, _ text: String) -> Bool {
    FilterPattern(pattern).isFound(in: text)
  }

  @Test func `an expression is found anywhere, anchors bind it to the ends of the text`() {
    #expect(finds("air", "Jane Eyre's chair"))
    #expect(!finds("^air", "chair"))
    #expect(finds("air$", "chair"))
    #expect(!finds("air$", "chairs"))
    #expect(finds("^$", "") && !finds("^$", "a"))
    #expect(!finds("^b", "a\nb") && !finds("a$", "a\nb"), "a line is no text")
    #expect(!finds("a$", "a\n"), "not before a last line break either")
    #expect(finds("(?m)^b", "a\nb") && finds("(?m)a$", "a\nb"))
  }

  @Test func `alternatives, groups, classes and quantifiers`() {
    #expect(finds("^The|^A", "A Room") && finds("^The|^A", "The Waves"))
    #expect(!finds("^(The|A) ", "Atonement"))
    #expect(finds("x|b", "ab"))
    #expect(finds("^[a-c]+$", "abcab") && !finds("^[a-c]+$", "abd"))
    #expect(finds("[^a]", "ab") && !finds("[^a]", "aa"))
    #expect(finds("^\\d{4}-\\d\\d$", "1984-06") && !finds("^\\d{4}-\\d\\d$", "84-06"))
    #expect(finds("^\\p{Lu}", "Éva") && !finds("^\\p{Lu}", "éva"))
    #expect(finds("(.)\\1", "book") && !finds("(.)\\1", "boat"))
    #expect(finds("a(?=b)", "ab") && !finds("a(?!b)", "ab"))
    #expect(finds("^a\\.b$", "a.b") && !finds("^a\\.b$", "axb"))
  }

  @Test func `case is ignored where the expression says so`() {
    #expect(!finds("emma", "Emma"))
    #expect(finds("(?i)emma", "EMMA"))
    #expect(finds("(?i)É", "é"))
    #expect(!finds("(?i)stra\u{DF}e", "STRASSE"), "one scalar for one")
  }

  @Test func `a word begins and ends where Unicode says so`() {
    #expect(finds("\\bcat\\b", "a cat.") && !finds("\\bcat\\b", "concat"))
    // Was: no digit was a part of a word.
    #expect(finds("\\b1984\\b", "in 1984") && finds("\\b1984\\b", "1984"))
    #expect(!finds("\\bcat\\b", "cat3") && !finds("\\bx", "3x"))
    #expect(!finds("\\bdon\\b", "don't") && !finds("\\b3\\b", "3.14"))
    #expect(finds("\\bna\u{EF}ve\\b", "so naïve!"))
    #expect(finds("e\u{301}\\b", "e\u{301}"))
  }

  @Test func `a text is compared scalar by scalar`() {
    #expect(finds("^.$", "\u{E9}") && !finds("^.$", "e\u{301}"))
    #expect(finds("^..$", "e\u{301}"))
    #expect(finds("^e", "e\u{301}") && !finds("^e$", "e\u{301}"))
    #expect(finds("^.....$", "👨‍👩‍👧"))
    #expect(!finds("^.$", "\n") && finds("(?s)^.$", "\n") && finds("(?s)^..$", "\r\n"))
  }

  @Test func `spellings that Unicode calls equivalent do not match each other`() {
    #expect(!finds("\u{E9}", "e\u{301}") && !finds("e\u{301}", "\u{E9}"))
    #expect(!finds("^\u{E9}", "e\u{301}") && !finds("^e\u{301}", "\u{E9}"))
    #expect(!finds("[\u{E9}]", "e\u{301}"))
    #expect(!finds("(?i)\u{E9}", "E\u{301}"))
  }

  @Test(arguments: ["(", "[", "a)", "*", "a{2,1}", "(?<=a)b", "\\", "(?z)a", "^?\u{301}"])
  func `an expression that can't be read is found nowhere`(source: String) {
    let pattern = FilterPattern(source)
    #expect(!pattern.isValid)
    #expect(pattern.prefix.isEmpty && !pattern.isPrefixOnly)
    for text in ["", "a", source] { #expect(!pattern.isFound(in: text)) }
  }

  private static let patterns = [
    "^", "^a", "^ab", "^ab?", "^ab*", "^ab+", "^ab{0}", "^ab{1,2}", "^a.", "^a$", "^a|b", "^(a|b)",
    "^a\\.b",
    "^a\\w", "^[ab]", "^a[b]", "^a b", "^a#b", "^a-b", "^\"a\"", "^a]", "^a}", "^e", "^e\u{301}",
    "^e\u{301}?x", "^e\u{301}*x", "^e\u{301}{2}", "^\u{E9}", "^\u{E9}?x", "^a\r\n?b",
    "^a\u{200D}?b",
    "^👨‍👩‍👧", "^👨‍👩‍👧?x", "^🇩🇪?x", "^(?i)a", "^^a", "a", "(?i)^a", "^a??", "^ab*?",
  ]
  private static let texts = [
    "", "a", "ab", "abb", "abbb", "b", "ba", "A", "a.b", "a b", "a#b", "a-b", "\"a\"", "a]", "a}",
    "e",
    "e\u{301}", "e\u{301}x", "e\u{301}e\u{301}", "ex", "x", "\u{E9}", "\u{E9}x", "a\rb", "a\r\nb",
    "a\u{200D}",
    "a\u{200D}b", "👨‍👩‍👧", "👨‍👩‍👧x", "👨x", "🇩🇪x", "🇩x", "\na",
  ]

  @Test(arguments: patterns)
  func `the plain text at the beginning says what the whole expression says`(source: String) {
    // Was: a quantifier after a letter with a combining mark took the mark away and left the letter.
    let pattern = FilterPattern(source)
    let whole = FilterPattern("(?:\(source))")
    #expect(pattern.isValid && whole.isValid && whole.prefix.isEmpty)
    for text in Self.texts {
      #expect(pattern.isFound(in: text) == whole.isFound(in: text), "\(source) in \(text)")
    }
  }

  @Test func `a plain text at the beginning is known as such`() {
    #expect(FilterPattern("^The end").isPrefixOnly)
    #expect(FilterPattern("^The end").prefix == "The end")
    #expect(FilterPattern("^The?").prefix == "Th" && !FilterPattern("^The?").isPrefixOnly)
    #expect(FilterPattern("^e\u{301}?").prefix.isEmpty)
    #expect(FilterPattern("The").prefix.isEmpty)
  }

  // A reference to a group that is repeated no times at all ends the process (Swift 6.3.1).
  @Test(arguments: [#"(a){0}\1"#, #"\1(a){0}"#, #"(?<n>c){0, 0}\k<n>"#, #"\1(?<n>c){,0}+"#])
  func `an expression that would end the process can't be read`(source: String) {
    let pattern = FilterPattern(source)
    #expect(!pattern.isValid)
    #expect(!pattern.isFound(in: "aab"))
  }

  @Test func `a reference to a group finds what the group has found`() {
    #expect(FilterPattern(#"(a|b)\1"#).isFound(in: "abb"))
    #expect(!FilterPattern(#"(a|b)\1"#).isFound(in: "aba"))
    #expect(FilterPattern("ba{0}b").isFound(in: "bb"))
  }

  @Test func `several threads use one expression`() {
    let pattern = FilterPattern("(?i)^(ada|grace) \\w+(ce|er)\\b")
    let texts = ["Ada Lovelace", "grace hopper", "Alan Turing", "Grace Hop"]
    let running = Monitor(8)
    let found = Locked(0)
    for number in 0..<8 {
      startThread(named: "pando.test.\(number)") {
        var count = 0
        for round in 0..<400 where pattern.isFound(in: texts[(round + number) % 4]) { count += 1 }
        found.withLock { $0 += count }
        running.withLock { $0 -= 1 }
        running.notifyAll()
      }
    }
    running.waiting { $0 == 0 ? () : nil }
    #expect(found.withLock { $0 } == 8 * 200)
  }
}
