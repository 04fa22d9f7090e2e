/// The numbers of a holder's rows: nearly all holders have row 0 only.
struct HolderRows {
  /// The number of row 0; negative if there is none.
  private var first: Int32 = -1
  private var others: [LiveRow: Int32]?

  subscript(row: LiveRow) -> Int32? {
    get {
      if row == 0 { return first < 0 ? nil : first }
      return others?[row]
    }
    set {
      if row == 0 {
        first = newValue ?? -1
      } else if newValue != nil || others != nil {
        others = others ?? [:]
        others?[row] = newValue
        if others?.isEmpty == true { others = nil }
      }
    }
  }

  func forEach(_ body: (Int32) -> Void) {
    if first >= 0 { body(first) }
    others?.values.forEach(body)
  }
}
