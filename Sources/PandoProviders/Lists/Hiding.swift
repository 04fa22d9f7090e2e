/// Converts positions between a list and the same list without one element, for example one that is
/// moved.
///
/// ``HiddenElements`` are something else.
struct Hiding {
  private let hidden: Int?

  /// - Parameter hidden: The position of the element that is not counted, if there is one.
  init(_ hidden: Int?) { self.hidden = hidden }

  /// Converts a position in the whole list to one in the list without the element.
  func visible(_ place: Int) -> Int { hidden.map { place > $0 ? place - 1 : place } ?? place }

  /// Converts a position in the list without the element to one in the whole list.
  func actual(_ place: Int) -> Int { hidden.map { place < $0 ? place : place + 1 } ?? place }
}
