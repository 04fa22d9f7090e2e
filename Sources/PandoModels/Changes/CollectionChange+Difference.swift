extension CollectionChange {
  /// Compares two lists of models.
  ///
  /// An element is the same in both lists if its identifier has the same bytes or, without
  /// identifiers, if it is equal. As many elements as possible keep their positions. The changes,
  /// applied in order, turn `old` into `new` (`applying(_:contents:)`). They come in this order:
  ///
  /// 1. deletions from high to low, in positions of the old list;
  /// 2. moves, one for each element removed once and inserted once;
  /// 3. insertions from low to high, in positions of the new list;
  /// 4. updates of elements that stayed or moved with new contents, from low to high, in positions
  ///   of the new list.
  ///
  /// Models without identifier whose type is not `Hashable` are compared in pairs. Beyond a million
  /// such comparisons they count as new, which results in more changes than necessary.
  ///
  /// - Parameters:
  ///   - old: The old list.
  ///   - new: The new list.
  /// - Returns: The changes, never ``reset``; none if the lists are equal.
  /// - Complexity: O(*n*), and O(*m* log *m*) for the *m* elements between the common beginning and
  ///   end of the lists.
  public static func difference<Element: SimpleModel>(
    from old: [Element], to new: [Element]
  ) -> CollectionChange {
    let ends = CommonEnds(old.count, new.count) {
      ModelClasses<Element>.isSame(old[$0], new[$1])
    }
    let before = old[ends.before..<(old.count - ends.after)]
    let after = new[ends.before..<(new.count - ends.after)]
    var classes = ModelClasses<Element>()
    let oldClasses = classes.numbers(of: before)
    let newClasses = classes.numbers(of: after)
    let matching = ListMatching(
      old: oldClasses, new: newClasses, classCount: classes.count, offset: ends.before)
    var changes = matching.changes
    for (index, model) in new.enumerated() {
      guard let origin = matching.origin(of: index, oldCount: old.count, newCount: new.count),
        !model.isEqual(to: old[origin])
      else { continue }
      changes.append(.update(index: index))
    }
    return .changes(changes)
  }
}

/// Assigns numbers to models, equal numbers to the same ones.
///
/// Models with identifiers are the same if these have the same bytes, models without if they are
/// equal.
struct ModelClasses<Element: SimpleModel> {
  private(set) var count = 0
  private var named: [ByteString: UInt32] = [:]
  /// One model without identifier per number, by hash value.
  private var nameless: [Int: [(model: Element, number: UInt32)]] = [:]
  private var comparisonsLeft = Self.comparisonLimit

  /// The most comparisons of models without identifier.
  ///
  /// They have no hash value unless the type is `Hashable`, and comparing all pairs of 10 000 would
  /// take seconds. The remaining ones count as different from all others.
  private static var comparisonLimit: Int { 1_000_000 }

  /// Whether two models are the same.
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

/// The common beginning and end of two lists.
struct CommonEnds {
  /// The number of common elements at the beginning.
  let before: Int
  /// The number of common elements at the end, without those of ``before``.
  let after: Int

  /// Compares two lists.
  ///
  /// - Parameters:
  ///   - oldCount: The length of the old list.
  ///   - newCount: The length of the new list.
  ///   - isSame: Compares an old element with a new one, by index.
  @inline(__always)
  init(_ oldCount: Int, _ newCount: Int, isSame: (Int, Int) -> Bool) {
    let most = min(oldCount, newCount)
    var before = 0
    while before < most, isSame(before, before) { before += 1 }
    var after = 0
    while after < most - before, isSame(oldCount - 1 - after, newCount - 1 - after) { after += 1 }
    self.before = before
    self.after = after
  }
}
