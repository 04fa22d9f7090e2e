import FoundationEssentials
import PandoModels
import PandoStore

/// A field of a row or of a key, and the form of its values: `total`, `created:date`, `created:day`.
struct PrintedField {
  /// The units of a date, by their names.
  private static let units: [String: Calendar.Component] = [
    "year": .year, "quarter": .quarter, "month": .month, "week": .weekOfYear, "day": .day,
    "hour": .hour, "minute": .minute, "second": .second,
  ]

  let field: FilterField
  /// The name of the column.
  let column: String
  /// The unit of a calendar to which a date is shortened.
  let unit: Calendar.Component?
  /// Whether numbers are printed as dates.
  let isDate: Bool

  /// Reads fields with commas between them.
  ///
  /// - Parameters:
  ///   - text: The argument.
  ///   - option: The option, for errors.
  ///   - allowsUnits: Whether a date may be shortened to a unit.
  /// - Returns: The fields.
  /// - Throws: A usage error.
  static func list(
    _ text: String, of option: String, allowsUnits: Bool
  ) throws(CommandError) -> [PrintedField] {
    var fields: [PrintedField] = []
    for part in parts(of: text) {
      guard !part.isEmpty else {
        throw CommandError(.usage, "\(option) takes FIELD or FIELD,FIELD, not “\(text)”")
      }
      let field = try PrintedField(part, option, allowsUnits: allowsUnits)
      guard !fields.contains(where: { $0.column == field.column }) else {
        throw CommandError(.usage, "\(option) names “\(field.column)” twice")
      }
      fields.append(field)
    }
    return fields
  }

  /// The parts between commas; those in backticks are part of a name.
  private static func parts(of text: String) -> [String] {
    var parts = [""]
    var isQuoted = false
    for character in text {
      if character == "`" { isQuoted.toggle() }
      if character == ",", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }

  private init(
    _ text: String, _ option: String, allowsUnits: Bool
  ) throws(CommandError) {
    var name = text[...]
    var unit: Calendar.Component?
    var isDate = false
    if let colon = text.lastIndex(of: ":"), colon != text.startIndex {
      let word = String(text[text.index(after: colon)...])
      unit = Self.units[word]
      guard unit == nil || allowsUnits else {
        throw CommandError(
          .usage, "\(option) takes FIELD:date for a date; :\(word) is for --count-by and --by")
      }
      isDate = word == "date" || unit != nil
      if isDate { name = text[..<colon] }
    }
    field = try FilterParser.field(argument: String(name))
    self.unit = unit
    self.isDate = isDate
    column = unit == nil ? field.name : field.name + text[name.endIndex...]
  }

  /// A value in the form of this field.
  func printed(_ value: TreeValue) -> TreeValue {
    guard isDate else { return value }
    switch value {
    case .array(let values): return .array(values.map(printed))
    case .integer(let seconds): return DateText.text(Double(seconds)).map { .string($0) } ?? value
    case .double(let seconds): return DateText.text(seconds).map { .string($0) } ?? value
    default: return value
    }
  }
}
