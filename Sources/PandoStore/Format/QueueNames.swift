/// The names of a queue's rows among the properties of a store.
///
/// | name | value |
/// |---|---|
/// | `queue/` and the number, 16 hexadecimal digits | a `QueuedRequest` as CBOR |
/// | `queue-failed/` and the number | the same, of a request that failed |
/// | `queue-next` | the next number, 8 bytes, least significant first; twice after a removal of everything, until the next request |
/// | `queue-dropped` | the numbers of the last dropped requests, 8 bytes each |
/// | `queue-key/`, client, `/`, uniquing key | the number of the newest request with that key |
/// | `queue-mark/` and a model identifier | the requests that change or name the node: for a local identifier their numbers, else their count |
/// | `queue-refused/` and a model identifier | the count of refused requests whose change the node still has |
/// | `alias/` and a model identifier | the ``IdentifierAlias`` that replaced it, as CBOR |
package enum QueueNames {
  package static let waiting = "queue/"
  package static let failed = "queue-failed/"
  package static let next = "queue-next"
  package static let dropped = "queue-dropped"
  /// The prefixes of all names about requests, without `queue-next`.
  package static let all = [waiting, failed, dropped, "queue-key/", marks, refusals, "alias/"]
  package static let marks = "queue-mark/"
  package static let refusals = "queue-refused/"
  /// The prefix of the rows of arranged types.
  package static let arrangements = "arranged/"
  /// The prefix of the rows with the state of a synchronized entity type.
  package static let syncs = "sync/"

  package static func waiting(_ number: UInt64) -> String { waiting + digits(number) }
  package static func failed(_ number: UInt64) -> String { failed + digits(number) }
  package static func key(_ key: String, client: String) -> String {
    PropertyName.bounded("queue-key/", client + "/" + key)
  }
  package static func mark(_ modelIdentifier: String) -> String {
    PropertyName.bounded(marks, modelIdentifier)
  }
  package static func refusal(_ modelIdentifier: String) -> String {
    PropertyName.bounded(refusals, modelIdentifier)
  }
  package static func alias(_ modelIdentifier: String) -> String {
    IdentifierAlias.rowName(of: modelIdentifier)
  }

  /// The row of a type whose entities have another natural order than the one of their first writes.
  package static func arrangement(_ typeName: String) -> String { arrangements + typeName }

  /// The row that says how far the entities of a type are synchronized with a server.
  package static func sync(_ typeName: String, client: String) -> String {
    PropertyName.bounded(syncs, client + "/" + typeName)
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
