import PandoModels

extension TreeValue {
  /// This value as it would be without a change that came before it.
  ///
  /// What the change did and nobody has changed since is as it was before; in objects each field is looked at
  /// by itself, in arrays each element. No type is known here, so objects that may be different cases of an
  /// enum are left as they are: two cases side by side could not be read.
  ///
  /// - Parameters:
  ///   - before: The value before the change.
  ///   - after: The value after it.
  /// - Returns: The value without it.
  func undoing(from before: TreeValue, to after: TreeValue) -> TreeValue {
    if self == after { return before }
    if before == after { return self }
    switch (self, before, after) {
    case (.object(let now), .object(let before), .object(let after)):
      if Self.mayBeCases(now, before, after) { return self }
      return .object(Self.undoing(now, from: before, to: after))
    case (.entries(let now), .entries(let before), .entries(let after)):
      return .entries(Self.undoing(now, from: before, to: after))
    case (.array(let now), .array(let before), .array(let after)):
      return .array(Self.undoing(now, from: before, to: after))
    case (.required(let now), .required(let before), .required(let after)):
      return .required(now.undoing(from: before, to: after))
    default: return self
    }
  }

  /// Whether objects have one field each, an object, and not all the same one: so an enum with payload is coded.
  private static func mayBeCases(_ objects: [String: TreeValue]...) -> Bool {
    let cases = objects.compactMap { object -> String? in
      guard object.count == 1, let (name, content) = object.first, case .object = content else {
        return nil
      }
      return name
    }
    return cases.count == objects.count && Set(cases).count > 1
  }

  private static func undoing<Key: Hashable>(
    _ now: [Key: TreeValue], from before: [Key: TreeValue], to after: [Key: TreeValue]
  ) -> [Key: TreeValue] {
    var result = now
    for key in Set(before.keys).union(after.keys) {
      let (old, new) = (before[key], after[key])
      if old == new { continue }
      if now[key] == new {
        result[key] = old
      } else if let value = now[key], let old, let new {
        result[key] = value.undoing(from: old, to: new)
      }
    }
    return result
  }

  /// Takes out what the change has put in, and puts in what it has taken out.
  private static func undoing(
    _ now: [TreeValue], from before: [TreeValue], to after: [TreeValue]
  ) -> [TreeValue] {
    var counts: [TreeValue: Int] = [:]
    for value in after { counts[value, default: 0] += 1 }
    for value in before { counts[value, default: 0] -= 1 }
    var result = now
    for value in after.reversed() where counts[value, default: 0] > 0 {
      counts[value, default: 0] -= 1
      if let index = result.lastIndex(of: value) { result.remove(at: index) }
    }
    for (place, value) in before.enumerated() where counts[value, default: 0] < 0 {
      counts[value, default: 0] += 1
      // Behind the nearest one that stood before it.
      let index = before[..<place].reversed().lazy.compactMap { result.lastIndex(of: $0) }.first
      result.insert(value, at: index.map { $0 + 1 } ?? 0)
    }
    return result
  }
}
