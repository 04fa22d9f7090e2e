import PandoSystem
import Synchronization

extension FieldReader {
  /// Finds the value of a field by the bytes of its name.
  func find(_ name: inout String) -> CBORReader? {
    name.withUTF8 { key in unsafe index.pointee.find(key) }
  }

  /// The names of all fields, in map order.
  var names: [String] {
    guard isValid else { return [] }
    return unsafe (0..<index.pointee.count).compactMap { position in
      let field = unsafe index.pointee.fields[position]
      // The key's bytes were checked.
      return unsafe String(utf8: UnsafeRawBufferPointer(start: field.key, count: field.keyCount))
    }
  }
}

extension FieldTable {
  /// Finds the value of a field by its name.
  @inline(__always)
  mutating func find(_ name: UnsafeBufferPointer<UInt8>) -> CBORReader? {
    let key = unsafe UnsafeRawPointer(name.baseAddress ?? nil) ?? end
    let question = unsafe askedCount
    unsafe askedCount = question + 1
    // Most values of a type have the same fields, and are read in the same order.
    let hints = unsafe owner?.pointee.hints
    var position = unsafe hints?[question] ?? lastFound + 1
    if unsafe position >= count || !fields[position].hasKey(key, count: name.count) {
      guard let found = unsafe search(key, count: name.count) else { return nil }
      hints?[question] = found
      position = found
    }
    unsafe lastFound = position
    let field = unsafe fields[position]
    // The map's values lie before its end.
    return unsafe CBORReader(start: field.key + field.keyCount, end: end)
  }

  @inline(never)
  private mutating func search(_ key: UnsafeRawPointer, count keyCount: Int) -> Int? {
    guard unsafe count > 16, unsafe areKeysSorted() else {
      for position in unsafe 0..<count where unsafe fields[position].hasKey(key, count: keyCount) {
        return position
      }
      return nil
    }
    var (low, high) = unsafe (0, count)
    while low < high {
      let middle = (low + high) / 2
      let order = unsafe fields[middle].order(key, count: keyCount)
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private mutating func areKeysSorted() -> Bool {
    if let known = unsafe isSorted { return known }
    var found = true
    for position in unsafe 1..<count {
      let field = unsafe fields[position]
      if unsafe fields[position - 1].order(field.key, count: field.keyCount) >= 0 { found = false }
    }
    unsafe isSorted = found
    return found
  }
}

/// The positions of the fields of a type's values at their last lookup.
///
/// Records of one type mostly have the same fields, and a type reads them in the same order. So the
/// *n*-th lookup mostly has the same position. Hints are checked before use; threads may overwrite
/// each other's.
@safe struct FieldHints {
  /// The number of lookups with a hint.
  private static let capacity = 64

  private let positions: UnsafeMutablePointer<Atomic<UInt8>>

  /// Makes empty hints; they are never freed, like the traits of the type.
  init() {
    unsafe positions = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity {
      unsafe (positions + index).initialize(to: Atomic(.max))
    }
  }

  /// The position of the *n*-th lookup.
  @inline(__always)
  subscript(question: Int) -> Int? {
    get {
      guard question < Self.capacity else { return nil }
      return unsafe Int(positions[question].load(ordering: .relaxed))
    }
    nonmutating set {
      guard question < Self.capacity, let newValue, newValue < Int(UInt8.max) else { return }
      unsafe positions[question].store(UInt8(newValue), ordering: .relaxed)
    }
  }
}
