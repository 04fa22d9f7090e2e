/// A table of values with small numbers, which are used again after a removal.
struct NumberedTable<Value> {
  private var values: [Value] = []
  private var free: [Int32] = []
  /// The value of a vacant number.
  private let vacant: Value

  init(vacant: Value) { self.vacant = vacant }

  var count: Int { values.count - free.count }

  mutating func insert(_ value: Value) -> Int32 {
    if let number = free.popLast() {
      values[Int(number)] = value
      return number
    }
    values.append(value)
    return Int32(values.count - 1)
  }

  mutating func remove(_ number: Int32) {
    values[Int(number)] = vacant
    free.append(number)
    // An empty table releases its memory.
    if free.count == values.count {
      values = []
      free = []
    }
  }

  /// Returns true if a number is in use, or was removed while other values stayed.
  func isInside(_ number: Int32) -> Bool { Int(number) < values.count }

  subscript(number: Int32) -> Value {
    get { values[Int(number)] }
    _modify { yield &values[Int(number)] }
  }
}
