import Foundation
import MicroHTTP

/// The server of the library: authors, books and loans, each with a number that it gives.
///
/// A process of its own, which can be killed and started again: what it has is in a file. It says what
/// it is asked, and keeps an answer back when an option says so.
actor LibraryServer {
  /// Its books, authors and loans, and the results of earlier requests.
  private struct Contents: Codable {
    var tables: [String: [Int: [String: Column]]] = [
      "authors": [1: ["name": .text("Jane Austen")], 2: ["name": .text("Frank Herbert")]],
      "books": [
        1: ["title": .text("Dune"), "author": .number(2)],
        2: ["title": .text("Emma"), "author": .number(1)],
      ],
      "loans": [1: ["book": .number(1), "reader": .text("Alan")]],
    ]
    /// The results of requests to make something, by their keys.
    var made: [String: Int] = [:]
  }

  private static let titleLengthMaximum = 20

  private let file: URL
  private let say: @Sendable (String) -> Void
  private var contents: Contents
  private var heldTarget: String?
  private var held: [CheckedContinuation<Void, Never>] = []

  /// Takes up what a server before has left.
  ///
  /// - Parameters:
  ///   - path: The file of what it has.
  ///   - target: A request whose answer is kept back, for example `POST /books`.
  ///   - say: Takes a line for each request.
  /// - Throws: The reason why the file can't be read.
  init(
    _ path: String, holding target: String? = nil, say: @escaping @Sendable (String) -> Void
  ) throws {
    heldTarget = target
    file = URL(fileURLWithPath: path)
    self.say = say
    if FileManager.default.fileExists(atPath: path) {
      contents = try JSONDecoder().decode(Contents.self, from: Data(contentsOf: file))
    } else {
      contents = Contents()
    }
  }

  /// Keeps the answers to a request back, for example to `PUT /books/1`.
  func hold(_ target: String) { heldTarget = target }

  /// Lets the answers go.
  func release() {
    heldTarget = nil
    for continuation in held { continuation.resume() }
    held = []
  }

  /// Answers a request; an ``HTTPError`` is an answer too.
  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let target = "\(request.method) /\(request.path.joined(separator: "/"))"
    let response = Result { try carryOut(request, target) }
    if case .failure(let error) = response {
      say("refuses \(target): \((error as? HTTPError)?.reason ?? "\(error)")")
    }
    if target == heldTarget { await withCheckedContinuation { held.append($0) } }
    return try response.get()
  }

  private func carryOut(_ request: HTTPRequest, _ target: String) throws -> HTTPResponse {
    guard let name = request.path.first, let table = contents.tables[name], request.path.count < 3
    else { throw HTTPError(404, "there is nothing here") }
    let number = request.path.dropFirst().first.flatMap { Int($0) }
    switch (request.method, number) {
    case ("GET", nil) where request.path.count == 1:
      say("answers \(target)")
      return HTTPResponse(table.sorted { $0.key < $1.key }.map { Self.whole($0.key, $0.value) })
    case ("GET", let number?):
      guard let row = table[number] else { throw HTTPError(404, "there is no number \(number)") }
      say("answers \(target)")
      return HTTPResponse(Self.whole(number, row))
    case ("POST", nil) where request.path.count == 1:
      return try make(request, in: name, target)
    case ("PUT", let number?):
      guard table[number] != nil else { throw HTTPError(404, "there is no number \(number)") }
      let row = try row(of: request)
      contents.tables[name]?[number] = row
      try save()
      say("stores \(target): \(Self.text(row))")
      return HTTPResponse(Self.whole(number, row))
    default: throw HTTPError(405, "\(target) is not for this path")
    }
  }

  /// Makes something once, however often a request comes.
  private func make(
    _ request: HTTPRequest, in name: String, _ target: String
  ) throws -> HTTPResponse {
    let row = try row(of: request)
    let key = request.values(of: "idempotency-key").first
    if let key, let number = contents.made[key], let made = contents.tables[name]?[number] {
      say("has made it before at \(target): \(Self.text(made)), no. \(number)")
      return HTTPResponse(Self.whole(number, made), status: 200)
    }
    let number = (contents.tables[name]?.keys.max() ?? 0) + 1
    contents.tables[name]?[number] = row
    if let key { contents.made[key] = number }
    try save()
    say("makes at \(target): \(Self.text(row)), no. \(number)")
    return HTTPResponse(Self.whole(number, row), status: 200)
  }

  /// The content of a request, which names others by their numbers only.
  private func row(of request: HTTPRequest) throws -> [String: Column] {
    var row = try request.decoded(as: [String: Column].self)
    row["id"] = nil
    if case .text(let title) = row["title"], title.count > Self.titleLengthMaximum {
      throw HTTPError(422, "a title has at most \(Self.titleLengthMaximum) characters")
    }
    for (field, table) in [("author", "authors"), ("book", "books")] {
      guard let value = row[field] else { continue }
      guard case .number(let number) = value, contents.tables[table]?[number] != nil else {
        throw HTTPError(400, "\(field) \(value) is not known here")
      }
    }
    return row
  }

  private func save() throws {
    try JSONEncoder().encode(contents).write(to: file, options: .atomic)
  }

  private static func whole(_ number: Int, _ row: [String: Column]) -> [String: Column] {
    row.merging(["id": .number(number)]) { _, id in id }
  }

  private static func text(_ row: [String: Column]) -> String {
    row.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}

/// A value in the server's tables.
enum Column: Codable, CustomStringConvertible {
  case number(Int)
  case text(String)

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    }
  }

  var description: String {
    switch self {
    case .number(let number): "\(number)"
    case .text(let text): "“\(text)”"
    }
  }
}
