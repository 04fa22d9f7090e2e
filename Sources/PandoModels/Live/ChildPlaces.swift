import FoundationEssentials
import Synchronization

/// Whether models of a type have places for children: found out from the first one that is asked for
/// its children, and kept for the life of the process.
///
/// A child is in a property, so a model all of whose stored properties are plain values has none, and
/// need not be encoded to find that out.
final class ChildPlaces: Sendable {
  private enum Answer: UInt8, AtomicRepresentable {
    case unknown, some, none
  }

  private let answer = Atomic(Answer.unknown)

  /// Whether a model can't have children, whatever its properties hold.
  static func areMissing<M: Model>(in model: M) -> Bool {
    guard let places = unsafe TypeTable.traits(of: M.self).pointee.childPlaces else { return false }
    switch places.answer.load(ordering: .relaxed) {
    case .some: return false
    case .none: return true
    case .unknown:
      let isMissing = hasPlainProperties(model)
      places.answer.store(isMissing ? .none : .some, ordering: .relaxed)
      return isMissing
    }
  }

  /// Whether all stored properties of a structure are plain values.
  private static func hasPlainProperties<M: Model>(_ model: M) -> Bool {
    if model is any CustomReflectable { return false }
    let mirror = Mirror(reflecting: model)
    guard mirror.displayStyle == .struct else { return false }
    var size = 0
    for property in mirror.children {
      let type = Swift.type(of: property.value)
      guard isPlain(type) else { return false }
      size = end(of: type, after: size)
    }
    // A property that can hold values of several types shows the type of what it holds at the moment,
    // and has another size.
    return size == MemoryLayout<M>.size
  }

  /// Whether a type's values are texts, numbers and the like, or optionals, lists, sets and maps of such.
  private static func isPlain(_ type: Any.Type) -> Bool {
    if type is any RecordScalar.Type || type == URL.self { return true }
    guard let container = type as? any PlainContainer.Type else { return false }
    return container.contents.allSatisfy { isPlain($0) }
  }

  /// Where a stored property ends that comes behind others.
  private static func end(of type: Any.Type, after size: Int) -> Int {
    func end<Value>(_ type: Value.Type) -> Int {
      let alignment = MemoryLayout<Value>.alignment
      return (size + alignment - 1) / alignment * alignment + MemoryLayout<Value>.size
    }
    return _openExistential(type, do: end)
  }
}

/// A type whose values hold values of other types, and nothing else.
private protocol PlainContainer {
  static var contents: [Any.Type] { get }
}

extension Optional: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Wrapped.self] }
}

extension Array: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Element.self] }
}

extension Set: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Element.self] }
}

extension Dictionary: PlainContainer {
  fileprivate static var contents: [Any.Type] { [Key.self, Value.self] }
}
