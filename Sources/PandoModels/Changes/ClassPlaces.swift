/// Where elements of each class stand in a list.
struct ClassPlaces {
  private var starts: [Int]
  /// Positions, class by class, and in ascending order in each.
  private(set) var places: [Int32]

  /// Sorts the positions of a list by class.
  ///
  /// - Parameters:
  ///   - list: Classes, all below `classCount`.
  ///   - classCount: How many classes there are.
  init(of list: [UInt32], classCount: Int) {
    starts = Array(repeating: 0, count: classCount + 1)
    places = Array(repeating: 0, count: list.count)
    for number in list { starts[Int(number) + 1] += 1 }
    for number in 0..<classCount { starts[number + 1] += starts[number] }
    var next = starts
    for (index, number) in list.enumerated() {
      places[next[Int(number)]] = Int32(index)
      next[Int(number)] += 1
    }
  }

  /// Where in ``places`` the positions of a class are.
  func range(of number: UInt32) -> Range<Int> { starts[Int(number)]..<starts[Int(number) + 1] }
}
