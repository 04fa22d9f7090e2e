import PandoConsistency
import PandoModels
import PandoSystem

extension LiveList {
  /// The maximum number of rows that are searched one by one.
  ///
  /// More rows are found in one pass.
  private static var scansMaximum: Int { 8 }

  /// Returns the positions of rows; rows that are not in the list are left out.
  ///
  /// - Parameter wanted: Rows in ascending order.
  /// - Returns: The positions, in any order.
  /// - Complexity: O(*n* log *k*) for *k* wanted rows.
  func places(of wanted: [LiveRow]) -> [(row: LiveRow, place: Int)] {
    placesByIndex(of: wanted).map { (wanted[$0.index], $0.place) }
  }

  /// Returns the models of rows; rows that are not in the list are left out.
  ///
  /// - Parameter wanted: Rows in ascending order.
  /// - Returns: The rows and models found, in any order.
  func models(of wanted: [LiveRow]) -> [(row: LiveRow, model: T)] {
    places(of: wanted).map { ($0.row, models[$0.place]) }
  }

  /// Returns the positions of rows, each with its index in `wanted`.
  ///
  /// - Parameter wanted: Rows in ascending order.
  /// - Returns: The positions, in any order.
  func placesByIndex(of wanted: [LiveRow]) -> [(index: Int, place: Int)] {
    if wanted.count <= Self.scansMaximum {
      return wanted.enumerated().compactMap { index, row in position(of: row).map { (index, $0) } }
    }
    return rows.enumerated().compactMap { place, row in
      wanted.binarySearch(for: row, by: \.self).map { ($0, place) }
    }
  }
}
