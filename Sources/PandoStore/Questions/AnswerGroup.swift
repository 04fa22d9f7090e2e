/// A group of entities with an equal value, and the answer for these entities.
///
/// ```swift
/// let best = try store.answer(.sum(\Order.total).grouped(by: \.customer).top(10), to: .all)
/// for group in best { print(group.key, group.value) }
/// ```
public struct AnswerGroup<Key: Sendable, Value: Sendable>: Sendable {
  /// The value of the field that the entities of the group share.
  public let key: Key
  /// The answer for the entities of the group.
  public let value: Value

  /// Makes a group, for comparisons.
  ///
  /// - Parameters:
  ///   - key: The value of the field.
  ///   - value: The answer.
  public init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }
}

extension AnswerGroup: Equatable where Key: Equatable, Value: Equatable {}
extension AnswerGroup: Hashable where Key: Hashable, Value: Hashable {}
