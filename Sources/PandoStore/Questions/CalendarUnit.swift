import FoundationEssentials
import PandoSystem

/// A unit of the Gregorian calendar in a time zone; weeks are those of ISO 8601.
struct CalendarUnit: Sendable {
  let component: Calendar.Component
  let timeZone: TimeZone

  /// The units with a beginning.
  static let components: Set<Calendar.Component> = [
    .year, .quarter, .month, .weekOfYear, .day, .hour, .minute, .second,
  ]
}

/// Finds the beginnings of units; it keeps the units that it has found.
///
/// - Note: One thread at a time.
final class UnitStarts {
  private let calendar: Calendar
  private let component: Calendar.Component
  /// The found units in order, as seconds since the reference date; none of them overlap.
  private var units: [(start: Double, end: Double)] = []
  /// The place of the last unit: successive dates are often in one.
  private var last = 0

  init(_ unit: CalendarUnit) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = unit.timeZone
    calendar.firstWeekday = 2
    calendar.minimumDaysInFirstWeek = 4
    self.calendar = calendar
    component = unit.component
  }

  /// The beginning of the unit of a date; a value that is no date stays as it is.
  ///
  /// - Complexity: O(log *n*) for *n* found units; a new one takes microseconds.
  func start(of value: QueryValue) -> QueryValue {
    guard let seconds = Double(queryValue: value), seconds.isFinite else { return value }
    if last < units.count, units[last].start <= seconds, seconds < units[last].end {
      return .double(units[last].start)
    }
    last = units.partitioningIndex { seconds < $0.end }
    if last < units.count, units[last].start <= seconds { return .double(units[last].start) }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    guard let unit = calendar.dateInterval(of: component, for: date) else { return value }
    let start = unit.start.timeIntervalSinceReferenceDate
    let end = unit.end.timeIntervalSinceReferenceDate
    if start <= seconds, seconds < end { units.insert((start, end), at: last) }
    return .double(start)
  }
}
