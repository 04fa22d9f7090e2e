import Synchronization

/// Where the fields of a type's values were in their maps when they were last asked for.
///
/// Records of one type mostly have the same fields, and a type asks for them in the same order: so the
/// *n*-th question is mostly answered by the same place. Hints are checked before they are believed;
/// threads may overwrite each other's.
@safe struct FieldHints {
  /// How many questions there are hints for.
  private static let capacity = 64

  private let places: UnsafeMutablePointer<Atomic<UInt8>>

  /// Makes hints that say nothing; they are never freed, like the traits of the type.
  init() {
    unsafe places = .allocate(capacity: Self.capacity)
    for index in 0..<Self.capacity {
      unsafe (places + index).initialize(to: Atomic(.max))
    }
  }

  /// Where the answer to the *n*-th question was.
  @inline(__always)
  subscript(question: Int) -> Int? {
    get {
      guard question < Self.capacity else { return nil }
      return unsafe Int(places[question].load(ordering: .relaxed))
    }
    nonmutating set {
      guard question < Self.capacity, let newValue, newValue < Int(UInt8.max) else { return }
      unsafe places[question].store(UInt8(newValue), ordering: .relaxed)
    }
  }
}
