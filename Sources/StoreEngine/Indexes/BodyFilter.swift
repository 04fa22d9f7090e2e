import LMDB
import ModelCore

/// A filter made ready to be compared with many bodies.
///
/// Comparisons of a field with a plain value, if all of them must hold, are made on the bytes as they
/// lie in a body; the rest of the filter is asked for values.
struct BodyFilter {
  fileprivate struct Comparison {
    let path: FieldPath
    let relation: FilterComparison
    let value: QueryValue
    let operand: FieldOperand
  }

  private var comparisons: [Comparison] = []
  private var rest: [FilterTree<RecordField>] = []

  init(_ filter: FilterTree<RecordField>) {
    let parts = if case .and(let parts) = filter { parts } else { [filter] }
    for part in parts {
      if case .all = part { continue }
      if case .compare(.named(let path), let relation, let value) = part, path.isWhole,
        let plain = FieldOperand.Value(value)
      {
        comparisons.append(
          Comparison(
            path: path, relation: relation, value: value,
            operand: FieldOperand(field: path.name, plain)))
      } else {
        rest.append(part)
      }
    }
  }

  /// Whether a record matches.
  ///
  /// - Parameters:
  ///   - body: Its body.
  ///   - value: Finds the value of a field in the same record.
  func matches(
    _ body: Span<UInt8>, _ value: (RecordField) throws -> QueryValue
  ) throws -> Bool {
    for comparison in comparisons where try !comparison.holds(in: body) { return false }
    for part in rest where try !part.matches(value) { return false }
    return true
  }
}

extension BodyFilter.Comparison {
  fileprivate func holds(in body: Span<UInt8>) throws -> Bool {
    // Read during the call only.
    let order = try unsafe body.withUnsafeBytes { body in
      do throws(CBORError) {
        return try unsafe operand.order(in: body)
      } catch {
        throw path.damaged(error)
      }
    }
    return switch (order, relation) {
    case (.unknown, _): relation.holds(try path.value(in: body), value)
    case (.less, .less), (.less, .lessOrEqual), (.less, .notEqual): true
    case (.equal, .equal), (.equal, .lessOrEqual), (.equal, .greaterOrEqual): true
    case (.greater, .greater), (.greater, .greaterOrEqual), (.greater, .notEqual): true
    default: false
    }
  }
}

extension FieldOperand.Value {
  /// The value as it stands in bodies; `nil` if it is none of the plain ones.
  fileprivate init?(_ value: QueryValue) {
    switch value {
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value) where !value.isNaN: self = .double(value)
    case .string(let text): self = .text(Array(text.utf8))
    default: return nil
    }
  }
}
