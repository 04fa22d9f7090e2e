import PandoLMDB
import PandoModels

/// A filter made ready to be compared with many bodies.
///
/// Comparisons of a field with a plain value, if all of them must hold, are made on the bytes as they
/// lie in a body; the rest of the filter is asked for values.
@safe struct BodyFilter {
  private var comparisons: [BodyComparison] = []
  /// The same, to be asked without counting references; the array above keeps them.
  private var uncounted: [Unmanaged<BodyComparison>] = unsafe []
  /// What must hold besides.
  private(set) var rest: [FilterTree<RecordField>] = []

  init(_ filter: FilterTree<RecordField>) {
    let parts = if case .and(let parts) = filter { parts } else { [filter] }
    for part in parts {
      if case .all = part { continue }
      if case .compare(.named(let path), let relation, let value) = part,
        let comparison = BodyComparison(path, relation, value)
      {
        comparisons.append(comparison)
        unsafe uncounted.append(.passUnretained(comparison))
      } else {
        rest.append(part)
      }
    }
  }

  /// Whether a body may match: all comparisons with plain values hold, and ``rest`` is to be asked.
  func mayMatch(_ body: Span<UInt8>) throws -> Bool {
    for index in unsafe uncounted.indices {
      let comparison = unsafe uncounted[index]
      guard try unsafe comparison._withUnsafeGuaranteedRef({ try $0.holds(in: body) }) else {
        return false
      }
    }
    return true
  }
}

/// A comparison of a field with a plain value.
private final class BodyComparison: Sendable {
  private let path: FieldPath
  private let relation: FilterComparison
  private let value: QueryValue
  private let operand: FieldOperand

  /// Makes a comparison; `nil` for a field inside another one, and for a value that is not plain.
  init?(_ path: FieldPath, _ relation: FilterComparison, _ value: QueryValue) {
    guard path.isWhole, let plain = FieldOperand.Value(value) else { return nil }
    self.path = path
    self.relation = relation
    self.value = value
    operand = FieldOperand(field: path.name, plain)
  }

  func holds(in body: Span<UInt8>) throws -> Bool {
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
