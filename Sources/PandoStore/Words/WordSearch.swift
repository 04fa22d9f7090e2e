/// How the words of a search are found in a text.
///
/// ```swift
/// let found = Query<Issue>(filter: .search("red chai", .anyWord), order: [.relevance], limit: 20)
/// ```
public enum WordMatching: String, Sendable, Hashable, CaseIterable {
  /// All words, in any order; of the last one the text may have a longer word that begins with it.
  ///
  /// The last word is a whole one if a separator follows, as a space.
  case allWords
  /// All words, in any order, each as a whole.
  case wholeWords
  /// At least one of the words, as a whole.
  case anyWord
  /// All words, one after another, each as a whole.
  case phrase
}

/// A search for words, in the form in which texts are compared with it.
package struct WordSearch: Sendable {
  /// A word that is looked up.
  struct Unit: Hashable, Sendable {
    /// Folded.
    let bytes: [UInt8]
    let isPrefix: Bool
  }

  /// The text as given.
  package let text: String
  package let matching: WordMatching
  /// The different words.
  let units: [Unit]
  /// Sequences of words, by their places in ``units``; each is a condition.
  ///
  /// Mostly of one word. Words that nothing separates are found together: the ideographs of a word.
  let terms: [[Int]]

  package init(_ text: String, _ matching: WordMatching = .allWords) {
    self.text = text
    self.matching = matching
    var scanner = WordScanner()
    scanner.scan(text)
    var units: [Unit] = []
    var places: [Unit: Int] = [:]
    var terms: [[Int]] = []
    for (index, word) in scanner.words.enumerated() {
      let isPrefix =
        matching == .allWords && index == scanner.words.count - 1
        && word.source.upperBound == text.utf8.count
      let bytes = Array(copying: scanner.bytes(of: word))
      let unit = Unit(bytes: bytes, isPrefix: isPrefix)
      let place = places[unit] ?? units.count
      if place == units.count {
        places[unit] = place
        units.append(unit)
      }
      if !terms.isEmpty, matching == .phrase || word.isAdjacent {
        terms[terms.count - 1].append(place)
      } else {
        terms.append([place])
      }
    }
    self.units = units
    var seen: Set<[Int]> = []
    self.terms = terms.filter { seen.insert($0).inserted }
  }

  /// Whether the words of a text, without their places, decide.
  var needsWordsOnly: Bool { units.count < 64 && terms.allSatisfy { $0.count == 1 } }

  /// Whether words match.
  func matches(_ words: WordScanner) -> Bool {
    if terms.isEmpty { return matching != .anyWord }
    return matching == .anyWord
      ? terms.contains { isFound($0, in: words) } : terms.allSatisfy { isFound($0, in: words) }
  }

  private func isFound(_ term: [Int], in words: WordScanner) -> Bool {
    words.words.indices.contains { isFound(term, in: words, at: $0) }
  }

  private func isFound(_ term: [Int], in words: WordScanner, at index: Int) -> Bool {
    guard index + term.count <= words.words.count else { return false }
    for (offset, place) in term.enumerated() {
      let word = words.words[index + offset]
      guard word.place == words.words[index].place + offset,
        words.holds(word, units[place].bytes, isPrefix: units[place].isPrefix)
      else { return false }
    }
    return true
  }

  /// How often each unit occurs.
  func counts(in words: WordScanner) -> [Int] {
    units.map { unit in
      words.words.count { words.holds($0, unit.bytes, isPrefix: unit.isPrefix) }
    }
  }

  /// Where the words of the search are in a text, as ranges of its UTF-8; in order, not overlapping.
  ///
  /// Of terms of several words only complete ones count.
  package func ranges(in text: String) -> [Range<Int>] {
    var words = WordScanner()
    words.scan(text)
    var found: [Range<Int>] = []
    var end = 0
    for index in words.words.indices {
      let longest = terms.filter { isFound($0, in: words, at: index) }.map(\.count).max()
      guard let longest else { continue }
      let first = words.words[index].source.lowerBound
      let last = words.words[index + longest - 1].source.upperBound
      if first < end, let before = found.last {
        found[found.count - 1] = before.lowerBound..<max(last, before.upperBound)
      } else {
        found.append(first..<last)
      }
      end = max(end, last)
    }
    return found
  }
}

extension WordSearch: Hashable {
  package static func == (left: WordSearch, right: WordSearch) -> Bool {
    left.matching == right.matching && left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}
