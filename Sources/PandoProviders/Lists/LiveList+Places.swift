import PandoConsistency
import PandoModels
import PandoSystem

extension LiveList {
  /// From how many rows on the list is gone through once instead of once a row.
  private static var scansMaximum: Int { 8 }

  /// Finds rows that are there.
  ///
  /// - Parameter wanted: In ascending order.
  /// - Returns: The places, in any order.
  /// - Complexity: O(*n* log *k*) for *k* wanted rows.
  func places(of wanted: [LiveRow]) -> [(row: LiveRow, place: Int)] {
    placesByIndex(of: wanted).map { (wanted[$0.index], $0.place) }
  }

  /// Finds rows that are there, by their index in the list of wanted ones.
  ///
  /// - Parameter wanted: In ascending order.
  /// - Returns: The places, in any order.
  func placesByIndex(of wanted: [LiveRow]) -> [(index: Int, place: Int)] {
    if wanted.count <= Self.scansMaximum {
      return wanted.enumerated().compactMap { index, row in position(of: row).map { (index, $0) } }
    }
    return rows.enumerated().compactMap { place, row in
      wanted.binarySearch(for: row, by: \.self).map { ($0, place) }
    }
  }
}
