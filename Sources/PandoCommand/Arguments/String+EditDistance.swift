extension String {
  /// The number of characters to insert, delete or replace to get from one text to the other
  /// (Levenshtein distance, computed row by row).
  func editDistance(to other: String) -> Int {
    let other = Array(other)
    var row = Array(0...other.count)
    for (line, character) in self.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in other.indices {
        let substituted = diagonal + (character == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(substituted, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
