/// Numbers models so that the same thing has the same number.
///
/// Models with an identifier are the same if their identifiers have the same bytes, models without one
/// if they are equal.
struct ModelClasses<Element: SimpleModel> {
  private(set) var count = 0
  private var named: [ByteString: UInt32] = [:]
  /// Models without identifier, one of each kind, by hash value.
  private var nameless: [Int: [(model: Element, number: UInt32)]] = [:]
  private var comparisonsLeft = Self.comparisonLimit

  /// How many comparisons of models without identifier are made.
  ///
  /// They have no hash value unless the type is `Hashable`, and all pairs of 10 000 would take seconds.
  /// Those that are left count as different from all others.
  private static var comparisonLimit: Int { 1_000_000 }

  /// Whether two models are the same thing.
  static func isSame(_ left: Element, _ right: Element) -> Bool {
    switch (left.modelIdentifier, right.modelIdentifier) {
    case (let left?, let right?): left.hasSameBytes(as: right)
    case (nil, nil): left.isEqual(to: right)
    default: false
    }
  }

  /// The numbers of models.
  mutating func numbers(of models: ArraySlice<Element>) -> [UInt32] {
    models.map { number(of: $0) }
  }

  private mutating func number(of model: Element) -> UInt32 {
    guard let identifier = model.modelIdentifier else { return namelessNumber(of: model) }
    let key = ByteString(identifier)
    if let number = named[key] { return number }
    let number = makeNumber()
    named[key] = number
    return number
  }

  private mutating func namelessNumber(of model: Element) -> UInt32 {
    let hash = (model as? any Hashable)?.hashValue ?? 0
    for candidate in nameless[hash] ?? [] {
      guard comparisonsLeft > 0 else { return makeNumber() }
      comparisonsLeft -= 1
      if model.isEqual(to: candidate.model) { return candidate.number }
    }
    let number = makeNumber()
    nameless[hash, default: []].append((model, number))
    return number
  }

  private mutating func makeNumber() -> UInt32 {
    defer { count += 1 }
    return UInt32(count)
  }
}
