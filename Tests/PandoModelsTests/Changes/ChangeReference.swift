import PandoModels
import Testing

/// Applies changes the simple way and remembers what became of each element.
struct ChangeReference<Element> {
  struct Place {
    var element: Element?
    var isTouched = false
  }

  private(set) var places: [Place]

  /// Whether a move counts as a touch.
  let touchesMoved: Bool

  init(_ list: [Element], touchesMoved: Bool = false) {
    places = list.map { Place(element: $0) }
    self.touchesMoved = touchesMoved
  }

  mutating func apply(_ change: CollectionChangeInformation) throws {
    switch change {
    case .update(let index):
      try #require(places.indices.contains(index), "\(change)")
      places[index].isTouched = true
    case .delete(let index):
      try #require(places.indices.contains(index), "\(change)")
      places.remove(at: index)
    case .insert(let index):
      try #require((0...places.count).contains(index), "\(change)")
      places.insert(Place(element: nil, isTouched: true), at: index)
    case .move(let from, let to):
      try #require(places.indices.contains(from) && places.indices.contains(to), "\(change)")
      var place = places.remove(at: from)
      if touchesMoved { place.isTouched = true }
      places.insert(place, at: to)
    }
  }

  /// Whether the places hold a list: what was not touched with its contents, what was updated at
  /// least with its identity.
  func shows(
    _ list: [Element], isSame: (Element, Element) -> Bool, isEqual: (Element, Element) -> Bool
  ) -> Bool {
    places.count == list.count
      && zip(places, list).allSatisfy { place, new in
        guard let old = place.element else { return place.isTouched }
        return place.isTouched ? isSame(old, new) : isEqual(old, new)
      }
  }
}

/// Checks the order in which a difference of two lists comes.
func expectOrder(_ changes: [CollectionChangeInformation]) throws {
  var phase = 0
  var last = Int.max
  for change in changes {
    let (newPhase, index) =
      switch change {
      case .delete(let index): (0, -index)
      case .move(let from, let to): (1, from == to ? Int.min : 0)
      case .insert(let index): (2, index)
      case .update(let index): (3, index)
      }
    try #require(newPhase >= phase, "\(changes)")
    if newPhase == phase, phase != 1, last != .max { try #require(index > last, "\(changes)") }
    try #require(index != .min, "a move to the same place: \(changes)")
    (phase, last) = (newPhase, index)
  }
}

/// Every list over an alphabet up to a length.
func allLists<Element>(over alphabet: [Element], upTo length: Int) -> [[Element]] {
  var lists: [[Element]] = [[]]
  var longest: [[Element]] = [[]]
  for _ in 0..<length {
    longest = longest.flatMap { list in alphabet.map { list + [$0] } }
    lists += longest
  }
  return lists
}
