import PandoModels
import PandoRecords
import PandoStore

extension EntityRead {
  /// Hashes that identify the question, equal in each run of the program: one for each identifier, or one
  /// for the query.
  func keys(_ endpoint: RemoteEndpoint<E>?) -> [UInt64] {
    let request = endpoint?.key.map { "\n" + $0 } ?? ""
    guard let identifiers else { return [Self.hash(query.stableText + request)] }
    return identifiers.map { Self.hash("=" + $0.modelIdentifier + request) }
  }

  private static func hash(_ text: String) -> UInt64 {
    XXHash64.hash(text.utf8Span.span)
  }
}

extension Query {
  /// A text that differs for different questions, equal in each run of the program.
  fileprivate var stableText: String {
    var text = "\(offset),\(limit.map { "\($0)" } ?? "")"
    for key in order.map(\.key) {
      switch key {
      case .natural: text += "|natural"
      case .relevance: text += "|relevance"
      case .field(let field, let isDescending): text += "|\(isDescending ? "-" : "+")\(field.label)"
      case .identifiers(let list): text += "|\(list.map { Self.quoted($0.text) })"
      }
    }
    for field in uniqueBy { text += "|unique \(field.label)" }
    return text + "?" + Self.text(filter.tree)
  }

  private static func text(_ tree: FilterTree<QueryField<E>>) -> String {
    switch tree {
    case .all: "*"
    case .compare(let field, let comparison, let value):
      "\(field.label)\(comparison.rawValue)\(text(value))"
    case .isIn(let field, let values):
      "\(field.label) in \(values.values.map { text($0) }.joined(separator: ","))"
    case .pattern(let field, let pattern): "\(field.label)~\(quoted(pattern.source))"
    case .prefix(let field, let prefix): "\(field.label)^\(quoted(prefix))"
    case .part(let field, let part):
      "\(field.label)\(part.isPrefix ? "^" : "*")\(part.options.rawValue)\(quoted(part.text))"
    case .search(let fields, let search):
      "\(fields.map(\.label)) \(search.matching.rawValue)\(quoted(search.text))"
    case .and(let parts): "(\(parts.map { text($0) }.joined(separator: "&")))"
    case .or(let parts): "(\(parts.map { text($0) }.joined(separator: "|")))"
    case .not(let part): "!\(text(part))"
    }
  }

  private static func text(_ value: QueryValue) -> String {
    switch value {
    case .data(let bytes): "data \(Array(bytes))"
    case .string(let text): quoted(text)
    case .elements(let values): "[\(values.map { text($0) }.joined(separator: ","))]"
    default: "\(value.kind.rawValue) \(value)"
    }
  }

  /// With its length, so that no content can look like the text around it.
  private static func quoted(_ text: String) -> String { "\(text.utf8.count)'\(text)'" }
}
