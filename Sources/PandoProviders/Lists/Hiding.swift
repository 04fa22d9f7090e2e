/// The positions of a list with and without one element, which is on its way to another place.
struct Hiding {
  private let hidden: Int?

  /// - Parameter hidden: The position of the element that does not count, if there is one.
  init(_ hidden: Int?) { self.hidden = hidden }

  /// The position without the element, of one in the whole list.
  func visible(_ place: Int) -> Int { hidden.map { place > $0 ? place - 1 : place } ?? place }

  /// The position in the whole list, of one without the element.
  func actual(_ place: Int) -> Int { hidden.map { place < $0 ? place : place + 1 } ?? place }
}
