/// The numbers of a holder's rows in the registry.
///
/// Most holders have no other rows than 0 and 1.
struct HolderRows {
  /// The numbers of rows 0 and 1; negative if they do not exist.
  private var first: Int32 = -1
  private var second: Int32 = -1
  private var others: [LiveRow: Int32]?

  subscript(row: LiveRow) -> Int32? {
    get {
      switch row {
      case 0: first < 0 ? nil : first
      case 1: second < 0 ? nil : second
      default: others?[row]
      }
    }
    set {
      switch row {
      case 0: first = newValue ?? -1
      case 1: second = newValue ?? -1
      default:
        guard newValue != nil || others != nil else { return }
        others = others ?? [:]
        others?[row] = newValue
        if others?.isEmpty == true { others = nil }
      }
    }
  }

  func forEach(_ body: (Int32) -> Void) {
    if first >= 0 { body(first) }
    if second >= 0 { body(second) }
    others?.values.forEach(body)
  }
}
