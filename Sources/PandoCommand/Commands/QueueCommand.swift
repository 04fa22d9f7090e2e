import FoundationEssentials
import PandoManagers
import PandoModels
import PandoRemote
import PandoStore

/// `pando queue`: shows, retries and drops the requests that wait for a server.
enum QueueCommand: Command {
  static let declaration = CommandDeclaration(
    name: "queue",
    summary: "list the requests that wait for a server, send refused ones again, or drop some",
    positionals: [
      .store, Positional("ACTION", count: .optional, "list, retry or drop; none lists"),
      Positional("NUMBER", count: .any, "numbers of requests, or all"),
    ],
    options: [.assumingNoWriter] + Option.lists,
    actions: [
      "STORE [list] [--format FORMAT]",
      "STORE retry NUMBER…",
      "STORE retry all",
      "STORE drop NUMBER…",
      "STORE drop all",
    ],
    notes: [
      """
      Each line has the number, the state, how often the request was sent, the request, and its \
      last error, with tabs between them. Waiting requests come first, in their order. The state \
      is waiting, inFlight, failed or undone. inFlight: the request was being sent when the line \
      was printed, or when the process that sent it ended, so the server may have received it. \
      failed: the server refused it, and the local write stays. undone: the server refused it, \
      and the store is as if the write had never been made.
      """,
      """
      retry puts refused requests at the end of the queue again. drop removes requests, also \
      waiting ones: the server never receives their changes. A service that has the store open \
      notices the command with its next request or attempt.
      """,
    ],
    examples: [
      .init("pando queue library", "the requests that the server has not confirmed, and why"),
      .init("pando queue library retry all", "sends all refused requests again"),
      .init("pando queue library drop 7 9", "drops two requests"),
    ])

  static func run(_ arguments: ParsedArguments, _ output: StandardOutput) async throws {
    let path = arguments[0]
    let word = arguments.optional(1) ?? "list"
    let names = Array(arguments.positionals.dropFirst(2))
    let form = try ListForm(arguments)
    switch word {
    case "list":
      guard names.isEmpty else {
        throw CommandError(.usage, "list takes no numbers", remedy: "see: pando queue --help")
      }
      let requests = try await StoreAccess.read.open(path, for: declaration) { store in
        try store.read { try $0.queuedRequests() }
      }
      try list(requests, output, form)
    case "retry", "drop":
      try arguments.refuse(
        ["--format", "--no-header", "--null", "--json"], "is for lists, not for \(word)")
      let chosen = try numbers(names, of: word)
      try await StoreAccess.change.open(path, for: declaration) { store in
        try await store.write { transaction in
          try change(chosen, isRetry: word == "retry", in: path, &transaction)
        }
      }
    default:
      throw CommandError(
        .usage, "“\(word)” is no action of queue", remedy: "it is list, retry or drop")
    }
  }

  /// Returns the given numbers; `nil` for all.
  private static func numbers(_ names: [String], of action: String) throws -> [UInt64]? {
    if names == ["all"] { return nil }
    guard !names.isEmpty else {
      throw CommandError(
        .usage, "\(action) needs the numbers of requests, or all",
        remedy: "list them with: pando queue STORE")
    }
    return try names.map { name in
      guard let number = UInt64(name) else {
        throw CommandError(.usage, "“\(name)” is no number of a request")
      }
      return number
    }
  }

  private static func change(
    _ chosen: [UInt64]?, isRetry: Bool, in path: String, _ transaction: inout ModelTransaction
  ) throws {
    let requests = try transaction.snapshot.queuedRequests()
    let all = requests.filter { !isRetry || $0.state == .failed }.map(\.id)
    for number in chosen ?? all {
      guard let request = requests.first(where: { $0.id == number }) else {
        throw CommandError(
          .notThere, at: path, "there is no request \(number)",
          remedy: "nothing was changed; list them with: pando queue \(path)")
      }
      if isRetry, request.state != .failed {
        throw CommandError(
          .badInput, at: path, "request \(number) was not refused, it waits for its turn",
          remedy: "nothing was changed")
      }
      if isRetry {
        try transaction.retryQueuedRequest(number)
      } else {
        try transaction.dropQueuedRequest(number)
      }
    }
  }

  private static func list(
    _ requests: [QueuedRequest], _ output: StandardOutput, _ form: ListForm
  ) throws {
    if form.isJSON {
      return try output.line(TreeValue.array(requests.map(value)).json(isPretty: true))
    }
    var list = ListOutput(
      output, form,
      columns: ["number", "state", "attempts", "method", "target", "queued", "failure"])
    for request in requests {
      let isUndone = request.isUndone && request.state == .failed
      var value = value(request)
      if form.format.hasColumns, isUndone { value["state"] = "undone" }
      try list.write(value: value, line: line(request, isUndone))
    }
    try list.end()
  }

  private static func line(_ request: QueuedRequest, _ isUndone: Bool) -> String {
    var cells = [
      "\(request.id)", isUndone ? "undone" : request.state.rawValue, "\(request.attemptCount)",
      "\(request.request)",
    ]
    if let failure = request.lastFailure { cells.append(failure) }
    return cells.map(\.escapingControlCharacters).joined(separator: "\t")
  }

  private static func value(_ request: QueuedRequest) -> TreeValue {
    [
      "number": TreeValue(exactly: request.id) ?? .null,
      "state": .string(request.state.rawValue),
      "isUndone": .bool(request.isUndone),
      "lanes": .texts(request.lanes),
      "attempts": .integer(Int64(request.attemptCount)),
      "method": .string(request.request.method.rawValue),
      "target": .string(request.request.target),
      "body": request.request.body.map {
        .string(String(decoding: $0.bytes, as: UTF8.self))
      } ?? .null,
      "client": .string(request.client),
      "key": .string(request.token),
      "uniquingKey": request.request.configuration.uniquingKey.map { .string($0) } ?? .null,
      "nodes": .texts(request.subjects),
      "commit": TreeValue(exactly: request.commitNumber.value) ?? .null,
      "history": request.commitNumber.historyValue,
      "queued": .string(request.date.formatted(.iso8601)),
      "failure": request.lastFailure.map { .string($0) } ?? .null,
    ]
  }
}
