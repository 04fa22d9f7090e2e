import PandoSystem

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
    difference(in: [ListReplacement(oldStart: 0, old, newStart: 0, new)])
  }

  /// Compares two lists of models that are the same, with the same contents, outside of some parts.
  ///
  /// The changes are those of ``difference(from:to:)``, except that all elements outside of the parts keep their
  /// positions.
  ///
  /// - Parameter parts: The parts, in ascending order.
  /// - Returns: The changes, never ``reset``.
  /// - Complexity: O(*m* log *m*) for *m* elements in the parts.
  package static func difference<Element: SimpleModel>(
    in parts: [ListReplacement<Element>]
  ) -> CollectionChange {
    var classes = ModelClasses<Element>()
    var regions: [ListRegion] = []
    var (old, new): ([UInt32], [UInt32]) = ([], [])
    for part in parts {
      let ends = CommonEnds(part.old.count, part.new.count) {
        ModelClasses<Element>.isSame(part.old[$0], part.new[$1])
      }
      let between = ends.between(part.old.count, part.new.count)
      old += classes.numbers(of: part.old[between.old])
      new += classes.numbers(of: part.new[between.new])
      regions.append(between.moved(part.oldStart, part.newStart))
    }
    let matching = ListMatching(regions, old: old, new: new, classCount: classes.count)
    var changes = matching.changes
    for part in parts {
      for (index, model) in part.new.enumerated() {
        guard let origin = matching.origin(of: part.newStart + index),
          !model.isEqual(to: ListReplacement.oldElement(origin, in: parts))
        else { continue }
        changes.append(.update(index: part.newStart + index))
      }
    }
    return .changes(changes)
  }
}

/// A part of a list that other elements have replaced.
package struct ListReplacement<Element> {
  let oldStart: Int
  let old: [Element]
  let newStart: Int
  let new: [Element]

  /// Makes a part.
  ///
  /// - Parameters:
  ///   - oldStart: The position of its first element in the old list.
  ///   - old: The elements in the old list.
  ///   - newStart: The position of its first element in the new list.
  ///   - new: The elements in the new list.
  package init(oldStart: Int, _ old: [Element], newStart: Int, _ new: [Element]) {
    (self.oldStart, self.old, self.newStart, self.new) = (oldStart, old, newStart, new)
  }

  /// Whether it replaces elements by equal ones.
  package func isSame(_ areEqual: (Element, Element) -> Bool) -> Bool {
    old.count == new.count && zip(old, new).allSatisfy(areEqual)
  }

  /// The element at a position of the old list, which one of the parts has.
  fileprivate static func oldElement(_ index: Int, in parts: [ListReplacement]) -> Element {
    let part = parts[parts.partitioningIndex { $0.oldStart > index } - 1]
    return part.old[index - part.oldStart]
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

  /// The part between the ends.
  ///
  /// - Parameters:
  ///   - oldCount: The length of the old list.
  ///   - newCount: The length of the new list.
  /// - Returns: The part of both.
  func between(_ oldCount: Int, _ newCount: Int) -> ListRegion {
    ListRegion(old: before..<(oldCount - after), new: before..<(newCount - after))
  }
}

extension ListRegion {
  /// The region of longer lists in which these begin at other positions.
  fileprivate func moved(_ oldStart: Int, _ newStart: Int) -> ListRegion {
    ListRegion(
      old: (old.lowerBound + oldStart)..<(old.upperBound + oldStart),
      new: (new.lowerBound + newStart)..<(new.upperBound + newStart))
  }
}
