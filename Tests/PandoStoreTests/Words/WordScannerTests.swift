import Foundation
import PandoModels
import Testing

@testable import PandoStore

/// The words of texts, and where those of a search are.
@Suite struct WordScannerTests {
  private static func words(_ text: String) -> [String] {
    var scanner = WordScanner()
    scanner.scan(text)
    return scanner.words.map { word in
      String(decoding: Array(copying: scanner.bytes(of: word)), as: UTF8.self)
    }
  }

  @Test(arguments: [
    ("Red CHAI, 3.5 kg", ["red", "chai", "3", "5", "kg"]), ("", []), (" -- ", []),
    ("don't_stop", ["don", "t", "stop"]), ("Čaj černý", ["caj", "cerny"]),
    ("東京 tower", ["東", "京", "tower"]), ("iPhone東京x", ["iphone", "東", "京", "x"]),
    ("สวัสดี", ["ส", "ว\u{e31}", "ส", "ด\u{e35}"]), ("soft\u{AD}hyphen", ["softhyphen"]),
    ("Ἀθῆναι", ["αθηναι"]), ("²⁄₃ Ⅳ", ["²", "₃", "ⅳ"]), ("a\u{200B}b", ["a", "b"]),
    ("カタカナ ひらがな", ["カタカナ", "ひ", "ら", "か\u{3099}", "な"]), ("🌲wood🌲", ["wood"]),
    ("\u{301}a", ["a"]), ("한국어", ["한국어".decomposedStringWithCanonicalMapping]),
  ])
  func `a text is divided into folded words`(text: String, words: [String]) {
    #expect(Self.words(text).map { Array($0.utf8) } == words.map { Array($0.utf8) })
    // A search for a word of its own finds the text.
    for word in Self.words(text) {
      var scanner = WordScanner()
      scanner.scan(text)
      #expect(WordSearch(word, .wholeWords).matches(scanner), "\(word)")
    }
  }

  @Test func `of a long word the first bytes count, at the end of a letter`() {
    let long = String(repeating: "ab", count: 40)
    #expect(Self.words(long + " c") == [String(long.prefix(64)), "c"])
    let wide = "a" + String(repeating: "ж", count: 40)
    #expect(Self.words(wide) == ["a" + String(repeating: "ж", count: 31)])
  }

  @Test(arguments: [
    ("red chai", WordMatching.allWords, "A chai of red leaves", true),
    ("red cha", .allWords, "A chai of red leaves", true),
    ("red cha ", .allWords, "A chai of red leaves", false),
    ("red cha", .wholeWords, "A chai of red leaves", false),
    ("re chai", .allWords, "A chai of red leaves", false),
    ("blue chai", .anyWord, "A chai of red leaves", true),
    ("of red", .phrase, "A chai of red leaves", true),
    ("red of", .phrase, "A chai of red leaves", false),
    ("RÉD leaves", .phrase, "A chai of red, leaves", true),
    ("東京", .allWords, "京東", false), ("東京", .allWords, "北東京都", true),
    ("", .allWords, "a", true), ("", .anyWord, "a", false), ("", .phrase, "", true),
    ("chai chai", .phrase, "chai", false), ("chai chai", .wholeWords, "chai", true),
  ])
  func `a search matches a text`(
    search: String, matching: WordMatching, text: String, isMatch: Bool
  ) {
    var scanner = WordScanner()
    scanner.scan(text)
    #expect(WordSearch(search, matching).matches(scanner) == isMatch)
  }

  @Test func `a phrase does not go from one text to the next`() {
    var scanner = WordScanner()
    scanner.scan("red")
    scanner.scan("chai")
    #expect(!WordSearch("red chai", .phrase).matches(scanner))
    #expect(WordSearch("red chai").matches(scanner))
  }

  @Test(arguments: [
    ("red cha", WordMatching.allWords, "Rêd: a CHAI, red", ["Rêd", "CHAI", "red"]),
    ("a red", .phrase, "a a red red", ["a red"]), ("京都", .allWords, "東京都と京", ["京都"]),
    ("e\u{301}t", .allWords, "été", ["été"]), ("x", .anyWord, "abc", []),
  ])
  func `ranges say where words of a search are`(
    search: String, matching: WordMatching, text: String, found: [String]
  ) {
    let ranges = WordSearch(search, matching).ranges(in: text)
    let utf8 = Array(text.utf8)
    #expect(ranges.map { String(decoding: utf8[$0], as: UTF8.self) } == found)
  }
}
