public import FoundationEssentials
public import PandoModels

/// A field of a question that a key path does not describe: the elements of a list, a child, or the day of a date.
///
/// For a single stored value use a key path.
///
/// ```swift
/// let sold = try store.answer(
///   .sum(.each(\Order.lines, \.quantity)).grouped(by: .each(\.lines, \.product)), to: .all)
/// let perDay = try store.answer(
///   .sum(\Order.total).grouped(by: .date(\.created, .day, in: berlin)), to: .all)
/// ```
public struct QuestionField<E: Queryable, Value: QueryRepresentable>: Sendable {
  let field: QueryField<E>
  let unit: CalendarUnit?

  init(_ field: QueryField<E>, unit: CalendarUnit? = nil) {
    self.field = field
    self.unit = unit
  }

  /// A single value by its key path, for a call that also takes fields of other forms.
  ///
  /// - Parameter keyPath: The place of the value in the entity.
  /// - Returns: The field.
  public static func field(_ keyPath: any KeyPath<E, Value> & Sendable) -> QuestionField {
    QuestionField(QueryField(keyPath))
  }

  /// The values of a list.
  ///
  /// An entity belongs to the group of each different value, and adds each value to a sum.
  ///
  /// - Parameter keyPath: The place of the list in the entity.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable
  ) -> QuestionField where List.Element == Value { QuestionField(.each(keyPath)) }

  /// A field of each element of a list.
  ///
  /// If a question has several fields of one list, it takes their values from the same element.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the list in the entity.
  ///   - element: The place of the value in an element.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable,
    _ element: any KeyPath<List.Element, Value> & Sendable
  ) -> QuestionField { QuestionField(.each(keyPath, element)) }

  /// A field of each value of a map.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the map in the entity.
  ///   - element: The place of the value in a value of the map.
  /// - Returns: The field.
  public static func each<Key: Hashable & SendableMetatype, Element>(
    _ keyPath: any KeyPath<E, [Key: Element]> & Sendable,
    _ element: any KeyPath<Element, Value> & Sendable
  ) -> QuestionField { QuestionField(.each(keyPath, element)) }

  /// The children in a list, as their keys.
  ///
  /// - Parameter keyPath: The place of the list in the entity.
  /// - Returns: The field.
  public static func each<List: Collection & SendableMetatype>(
    _ keyPath: any KeyPath<E, List> & Sendable
  ) -> QuestionField where List.Element: SimpleModel, Value == Key<List.Element> {
    QuestionField(.each(keyPath))
  }

  /// A child, as its key.
  ///
  /// - Parameter keyPath: The place of the child in the entity.
  /// - Returns: The field.
  public static func child<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child> & Sendable
  ) -> QuestionField where Value == Key<Child> { QuestionField(.child(keyPath)) }

  /// An optional child, as its key.
  ///
  /// - Parameter keyPath: The place of the child in the entity.
  /// - Returns: The field.
  public static func child<Child: SimpleModel>(
    _ keyPath: any KeyPath<E, Child?> & Sendable
  ) -> QuestionField where Value == Key<Child>? { QuestionField(.child(keyPath)) }
}

/// Units of a calendar.
extension QuestionField {
  /// The beginning of the year, quarter, month, week, day, hour, minute or second of a date.
  ///
  /// The calendar is the Gregorian one with the weeks of ISO 8601, which begin on Monday. A day has the length that it
  /// has in the time zone, such as 23 hours when summer time begins. `TimeZone(identifier:)` finds named zones only in
  /// a program that imports `Foundation`.
  ///
  /// ```swift
  /// let perMonth = try store.answer(
  ///   .count.grouped(by: .date(\Order.created, .month, in: .gmt)), to: .all)  // [Date: Int]
  /// ```
  ///
  /// - Parameters:
  ///   - keyPath: The place of the date in the entity.
  ///   - unit: `.year`, `.quarter`, `.month`, `.weekOfYear`, `.day`, `.hour`, `.minute` or `.second`.
  ///     *Precondition:* it is one of these.
  ///   - timeZone: The time zone in which the unit begins.
  /// - Returns: The field.
  public static func date(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ unit: Calendar.Component, in timeZone: TimeZone
  ) -> QuestionField where Value == Date { field(keyPath).shortened(to: unit, timeZone) }

  /// The beginning of a unit of an optional date; null stays null.
  ///
  /// - Parameters:
  ///   - keyPath: The place of the date in the entity.
  ///   - unit: As in the form for a date.
  ///   - timeZone: The time zone in which the unit begins.
  /// - Returns: The field.
  public static func date(
    _ keyPath: any KeyPath<E, Value> & Sendable, _ unit: Calendar.Component, in timeZone: TimeZone
  ) -> QuestionField where Value == Date? { field(keyPath).shortened(to: unit, timeZone) }

  /// The beginning of a unit of each date of a field, such as ``each(_:_:)``.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - unit: As in the form for a key path.
  ///   - timeZone: The time zone in which the unit begins.
  /// - Returns: The field.
  public static func date(
    _ field: QuestionField, _ unit: Calendar.Component, in timeZone: TimeZone
  ) -> QuestionField where Value == Date { field.shortened(to: unit, timeZone) }

  private func shortened(to unit: Calendar.Component, _ timeZone: TimeZone) -> QuestionField {
    precondition(CalendarUnit.components.contains(unit), "\(unit) is no unit with a beginning")
    return QuestionField(field, unit: CalendarUnit(component: unit, timeZone: timeZone))
  }
}
