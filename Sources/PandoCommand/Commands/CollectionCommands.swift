import PandoModels
import PandoStore

/// `pando collections`: lists the ordered collections.
enum CollectionsCommand: Command {
  static let declaration = CommandDeclaration(
    name: "collections",
    summary: "list the keys of the collections, one a line",
    positionals: [.store],
    options: [.assumingNoWriter] + Option.lists,
    notes: ["Formats other than line also have the number of elements of each key."],
    examples: [.init("pando collections tweets", "for example: timeline")])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let form = try ListForm(arguments)
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        var list = ListOutput(output, form, columns: ["key", "count"])
        for key in try snapshot.collectionKeys() {
          if form.format == .line {
            try list.write(key)
            continue
          }
          let count = try snapshot.collectionCount(key) ?? 0
          try list.write(row: [.string(key), .integer(Int64(count))])
        }
        try list.end()
      }
    }
  }
}

/// `pando collection`: shows and changes one ordered collection.
enum CollectionCommand: Command {
  static let declaration = CommandDeclaration(
    name: "collection",
    summary: "list or change the elements of an ordered collection",
    positionals: [
      .store, Positional("KEY", "the collection's name"),
      Positional("ACTION", count: .optional, "append, insert, move or remove; none lists"),
      Positional("ARGUMENT", count: .any, "elements and positions; positions count from 0"),
    ],
    options: [
      .flag("--values", "elements are JSON values, not identifiers"),
      .value("--from", "N", "list from this position"),
      .value("--limit", "N", "list at most N"),
      .flag("--count", "print how many elements there are"),
    ] + Option.lists,
    actions: [
      "STORE KEY [--from N] [--limit N] [--count] [--format FORMAT]",
      "STORE KEY append ELEMENT… [--values]",
      "STORE KEY insert POSITION ELEMENT… [--values]",
      "STORE KEY move FROM TO",
      "STORE KEY remove POSITION [COUNT]",
      "STORE KEY remove all",
    ],
    notes: [
      """
      Elements are identifiers of nodes in the store, printed one a line. With --values they are \
      JSON values without an identifier, and a list prints them as JSON in one line. append and \
      insert at 0 create a missing collection. move takes one element out and inserts it, so \
      that its position is TO afterwards.
      """
    ],
    examples: [
      .init("pando collection tweets timeline", "the elements in order"),
      .init("pando collection tweets timeline insert 0 Status:1 Status:2", "two at the front"),
      .init("pando collection tweets timeline move 3 0", "the fourth comes first"),
      .init("pando collection tweets timeline remove 5 2", "removes positions 5 and 6"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    guard let word = arguments.optional(2) else {
      return try await list(arguments, output)
    }
    let change = try CollectionEdit(word, Array(arguments.positionals.dropFirst(3)))
    try arguments.refuse(
      ["--from", "--limit", "--count", "--format", "--no-header", "--null", "--json"],
      "is for lists, not for \(word)")
    let (path, key, isValues) = (arguments[0], arguments[1], arguments.has("--values"))
    if key.isEmpty { throw CommandError(.badInput, at: path, "KEY is empty") }
    try await StoreAccess.change.open(path, for: declaration) { store in
      let elements = try await store.read { snapshot in
        try change.elements.map {
          try isValues ? value($0, snapshot) : reference($0, snapshot, path)
        }
      }
      try await store.write { transaction in
        try apply(change, elements, to: key, &transaction)
      }
    }
  }

  /// The elements of one read: memory use does not grow with the collection.
  private static let elementsPerRead = 1000

  private static func list(
    _ arguments: ParsedArguments, _ output: StandardOutput
  ) async throws {
    let key = arguments[1]
    let from = try arguments.count("--from") ?? 0
    let limit = try arguments.count("--limit") ?? .max
    let form = try ListForm(arguments)
    try await StoreAccess.read.open(arguments[0], for: declaration) { store in
      try store.read { snapshot in
        guard let count = try snapshot.collectionCount(key) else {
          throw CommandError(
            .notThere, at: arguments[0], "there is no collection \(key)",
            remedy: "list them with: pando collections \(arguments[0])")
        }
        if arguments.has("--count") {
          return try output.write(count: count, form)
        }
        var list = ListOutput(output, form, columns: ["element"])
        let start = min(from, count)
        let end = start + min(limit, count - start)
        for first in stride(from: start, to: end, by: elementsPerRead) {
          let range = first..<min(first + elementsPerRead, end)
          for element in try snapshot.collectionTrees(key, in: range, depth: 0) ?? [] {
            if case .reference(let identifier, _) = element {
              try list.write(identifier)
            } else {
              try list.write(value: element)
            }
          }
        }
        try list.end()
      }
    }
  }

  private static func reference(
    _ identifier: String, _ snapshot: ModelSnapshot, _ path: String
  ) throws -> TreeValue {
    guard let typeName = try snapshot.typeNames(of: identifier).first else {
      throw CommandError.noNode(identifier, in: path)
    }
    return .reference(identifier: identifier, typeName: typeName)
  }

  private static func value(_ text: String, _ snapshot: ModelSnapshot) throws -> TreeValue {
    var splitter = TreeSplitter(try snapshot.importMapping(), acceptsReferences: true)
    do {
      return try splitter.element(try TreeValue(json: text))
    } catch {
      throw CommandError(wrapping: error).placed(in: "element")
    }
  }

  private static func apply(
    _ change: CollectionEdit, _ elements: [TreeValue], to key: String,
    _ transaction: inout ModelTransaction
  ) throws {
    let count = try transaction.snapshot.collectionCount(key)
    switch change {
    case .append: try transaction.append(elements, toCollection: key)
    case .insert(let index, _):
      try check(index, upTo: count ?? 0, in: key, count)
      if count == nil {
        try transaction.append(elements, toCollection: key)
      } else {
        try transaction.insert(elements, at: index, inCollection: key)
      }
    case .move(let from, let to):
      let last = try existing(count, key) - 1
      try check(max(from, to), upTo: last, in: key, count)
      try transaction.moveElement(from: from, to: to, inCollection: key)
    case .remove(let index, let length):
      let last = try existing(count, key) - 1
      let (end, isTooLarge) = index.addingReportingOverflow(length)
      try check(isTooLarge ? .max : max(end - 1, index), upTo: last, in: key, count)
      try transaction.removeElements(in: index..<end, fromCollection: key)
    case .removeAll:
      _ = try existing(count, key)
      try transaction.removeCollection(key)
    }
  }

  private static func existing(_ count: Int?, _ key: String) throws -> Int {
    guard let count else {
      throw CommandError(.notThere, at: key, "there is no such collection")
    }
    return count
  }

  private static func check(
    _ index: Int, upTo last: Int, in key: String, _ count: Int?
  ) throws {
    guard index > last else { return }
    throw CommandError(
      .notThere, at: key, "there is no position \(index)",
      remedy: "the collection has \(Figures.count(count ?? 0, "element")), positions count from 0")
  }
}

/// A change of a collection, from the command line.
enum CollectionEdit: Sendable, Hashable {
  case append([String])
  case insert(Int, [String])
  case move(Int, Int)
  case remove(Int, count: Int)
  case removeAll

  /// Reads an action and its arguments.
  ///
  /// - Throws: A usage error that names the expected arguments.
  init(_ action: String, _ arguments: [String]) throws(CommandError) {
    switch (action, arguments.count) {
    case ("append", 1...): self = .append(arguments)
    case ("insert", 2...):
      self = .insert(
        try CollectionEdit.position(arguments[0]), Array(arguments.dropFirst()))
    case ("move", 2):
      self = .move(
        try CollectionEdit.position(arguments[0]), try CollectionEdit.position(arguments[1]))
    case ("remove", 1) where arguments[0] == "all": self = .removeAll
    case ("remove", 1...2):
      let count =
        arguments.count == 2 ? try ParsedArguments.count(arguments[1], called: "COUNT") : 1
      self = .remove(try CollectionEdit.position(arguments[0]), count: count)
    case ("append", _): throw CollectionEdit.usage("append takes ELEMENT…")
    case ("insert", _): throw CollectionEdit.usage("insert takes POSITION ELEMENT…")
    case ("move", _): throw CollectionEdit.usage("move takes FROM TO")
    case ("remove", _): throw CollectionEdit.usage("remove takes POSITION [COUNT], or all")
    default: throw CollectionEdit.usage("“\(action)” is none of append, insert, move, remove")
    }
  }

  /// The elements to insert.
  var elements: [String] {
    switch self {
    case .append(let elements), .insert(_, let elements): elements
    default: []
    }
  }

  private static func position(_ text: String) throws(CommandError) -> Int {
    try ParsedArguments.count(text, called: "a position")
  }

  private static func usage(_ reason: String) -> CommandError {
    CommandError(.usage, reason, remedy: "see: pando collection --help")
  }
}
