/// Values under numbers that are small and used again.
struct NumberedTable<Value> {
  private var values: [Value] = []
  private var free: [Int32] = []
  /// What stands where no value is.
  private let vacant: Value

  init(vacant: Value) { self.vacant = vacant }

  /// How many values there are.
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
    // A table that was large once does not stay so.
    if free.count == values.count {
      values = []
      free = []
    }
  }

  /// Whether a number is that of a value, or of one that was removed while others stayed.
  func isInside(_ number: Int32) -> Bool { Int(number) < values.count }

  subscript(number: Int32) -> Value {
    get { values[Int(number)] }
    _modify { yield &values[Int(number)] }
  }
}
