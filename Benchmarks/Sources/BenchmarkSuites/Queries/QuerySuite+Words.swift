import CPeerSQLite
import Pando

/// Searches for words in short texts, beside FTS5, and how long the words of all texts take.
extension QuerySuite {
  func measureWords(_ size: Int) throws {
    let notes = Notes(seed: runner.options.seed, count: size)
    let pando = try runner.fixture("notes-\(size)", of: .pando) {
      try PandoNotes($0).fill(notes, withWords: true)
    }
    let sqlite = try runner.fixture("notes-\(size)", of: .sqlite) {
      try SQLiteNotes($0).fill(notes, withWords: true)
    }
    let count = runner.options.scaled(smoke: 20, standard: 1_000)
    let searches = notes.searches(count)
    for (name, text, isRanked, isPrefix) in [
      ("words-first", "the first 20 texts with two words", false, false),
      ("words-relevant", "the 20 most relevant texts with two words", true, false),
      (
        "words-prefix", "the 20 most relevant with a word and the first 3 letters of another", true,
        true
      ),
    ] {
      let asked = searches.map { $0.text(isPrefix) }
      let matching = isPrefix ? WordMatching.allWords : .wholeWords
      try runner.measure(
        Workload(
          name: "\(name)-\(size)", operation: "\(text), a read transaction each",
          parameters: ["texts": size, "operations": count], goals: [.sqlite: 1 / 1.5],
          series: Workload.Series(name: name, unit: "texts", size: size),
          contenders: [
            Workload.Contender(.pando) {
              let notes = try PandoNotes(pando)
              return try .time(count, in: pando) { try notes.ask(asked, matching, isRanked, $0) }
            },
            Workload.Contender(.sqlite) {
              let notes = try SQLiteNotes(sqlite)
              let asked = isPrefix ? asked.map { $0 + "*" } : asked
              return try .time(count, in: sqlite) { try notes.ask(asked, isRanked, $0) }
            },
          ]))
    }
    try measureBuild(notes, size)
  }

  private func measureBuild(_ notes: Notes, _ size: Int) throws {
    try runner.measure(
      Workload(
        name: "words-build-\(size)", operation: "the words of a text, among those of all texts",
        parameters: ["texts": size], durability: .unsynchronized,
        contenders: [
          Workload.Contender(.pando) {
            let directory = try runner.makeDirectory()
            let models = try PandoNotes(directory)
            try models.fill(notes, withWords: false)
            return try .time(size, in: directory) { _ in try models.build() }
          },
          Workload.Contender(.sqlite) {
            let directory = try runner.makeDirectory()
            let models = try SQLiteNotes(directory)
            try models.fill(notes, withWords: false)
            return try .time(size, in: directory) { _ in try models.build() }
          },
        ]))
  }
}

@Model struct Note: Equatable {
  @Key var number: Int
  var text: String
}

/// Texts of 4 to 12 words of 50 000, the *n*-th of which occurs 1/*n* as often as the first.
struct Notes {
  static let vocabulary: [String] = {
    var random = SeededGenerator(seed: 3)
    let syllables = [
      "ba", "co", "du", "fe", "gi", "ka", "lo", "mu", "ne", "pi", "ra", "so", "tu", "ve", "wi",
      "zo",
    ]
    var seen: Set<String> = []
    while seen.count < 50_000 {
      seen.insert(
        (0..<Int.random(in: 2...4, using: &random))
          .map { _ in syllables[Int.random(in: 0..<syllables.count, using: &random)] }.joined())
    }
    return seen.sorted().shuffled(using: &random)
  }()

  let texts: [String]

  init(seed: UInt64, count: Int) {
    var random = SeededGenerator(seed: seed)
    texts = (0..<count).map { _ in
      (0..<Int.random(in: 4...12, using: &random)).map { _ in
        Self.vocabulary[Self.place(&random)]
      }.joined(separator: " ")
    }
  }

  /// The sums of 1/*n* up to each place of the vocabulary.
  private static let sums: [Double] = vocabulary.indices.reduce(into: []) { sums, place in
    sums.append((sums.last ?? 0) + 1 / Double(place + 1))
  }

  /// A place in the vocabulary; *n* with a probability of 1/*n*.
  private static func place(_ random: inout SeededGenerator) -> Int {
    let sum = Double.random(in: 0..<(sums.last ?? 1), using: &random)
    var range = 0..<sums.count - 1
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = sums[middle] <= sum ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  struct Search {
    let first: String
    let second: String

    func text(_ isPrefix: Bool) -> String {
      "\(first) \(isPrefix ? String(second.prefix(3)) : second)"
    }
  }

  /// Two different words of one text, of those that are not among the most frequent 100.
  func searches(_ count: Int) -> [Search] {
    var random = SeededGenerator(seed: UInt64(texts.count))
    let frequent = Set(Self.vocabulary.prefix(100))
    var searches: [Search] = []
    while searches.count < count {
      let text = texts[Int.random(in: 0..<texts.count, using: &random)]
      let words = Set(text.split(separator: " ").map(String.init)).subtracting(frequent).sorted()
      if words.count > 1 { searches.append(Search(first: words[0], second: words[1])) }
    }
    return searches
  }
}

/// Notes in a Pando store.
final class PandoNotes: Sendable {
  private let models: PandoModels

  init(_ directory: WorkingDirectory) throws {
    models = try PandoModels(directory, .unsynchronized)
  }

  func fill(_ notes: Notes, withWords: Bool) throws {
    for start in stride(from: 0, to: notes.texts.count, by: 50_000) {
      try models.store.write { transaction in
        for number in start..<min(start + 50_000, notes.texts.count) {
          try transaction.set(Note(number: number, text: notes.texts[number]))
        }
      }
    }
    if withWords { _ = try build() }
  }

  func build() throws -> UInt64 {
    try models.store.write { try $0.addIndex(on: ["words(text)"], ofType: Note.modelTypeName) }
      ? 1 : 0
  }

  func ask(
    _ searches: [String], _ matching: WordMatching, _ isRanked: Bool, _ latencies: Latencies
  ) throws -> UInt64 {
    var checksum: UInt64 = 0
    for search in searches {
      try latencies.time {
        let query = Query<Note>(
          filter: .search(search, matching, in: \.text), order: isRanked ? [.relevance] : [],
          limit: 20)
        let found = try models.store.find(query).entities
        // By different formulas of relevance other texts come first, so only their number is compared.
        for note in found { checksum &+= isRanked ? 1 : UInt64(note.number) }
      }
    }
    return checksum
  }
}

/// Notes in an SQLite database with FTS5.
final class SQLiteNotes {
  private let words: OpaquePointer

  init(_ directory: WorkingDirectory) throws {
    var words: OpaquePointer?
    try SQLiteModels.check(
      sqlite_words_open(directory.path, Durability.unsynchronized.peer(of: .sqlite), &words))
    guard let words else { preconditionFailure("a database that was opened is not nil") }
    self.words = words
  }

  deinit { sqlite_words_close(words) }

  func fill(_ notes: Notes, withWords: Bool) throws {
    let arena = TextArena()
    let texts = notes.texts.map { arena.text($0) }
    try SQLiteModels.check(sqlite_words_fill(words, texts, texts.count))
    if withWords { _ = try build() }
  }

  func build() throws -> UInt64 {
    try SQLiteModels.check(sqlite_words_build(words))
    return 1
  }

  func ask(_ searches: [String], _ isRanked: Bool, _ latencies: Latencies) throws -> UInt64 {
    let arena = TextArena()
    var checksum: UInt64 = 0
    for search in searches {
      let text = arena.text(search)
      try latencies.time {
        try SQLiteModels.check(sqlite_words_begin(words, text, isRanked ? 1 : 0, 20))
        defer { sqlite_words_done(words) }
        var found: [Note] = []
        var (number, text, isThere) = (Int64(0), peer_text(), CInt(0))
        while true {
          try SQLiteModels.check(sqlite_words_next(words, &number, &text, &isThere))
          guard isThere != 0 else { break }
          found.append(Note(number: Int(number), text: text.string))
        }
        for note in found { checksum &+= isRanked ? 1 : UInt64(note.number) }
      }
    }
    return checksum
  }
}
