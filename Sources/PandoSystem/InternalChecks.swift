/// Checks of Pando's own structures after each change; the first broken one stops the process.
///
/// A process makes them if the variable `PANDO_INTERNAL_CHECKS` is set when it starts. Writes are then many times slower.
package enum InternalChecks {
  /// Whether this process makes them.
  package static let areOn = unsafe getenv("PANDO_INTERNAL_CHECKS") != nil
}
