public import PandoManagers

/// Makes entities for tests: all different, and the same in each run.
///
/// ```swift
/// struct Books: EntityFactory {
///   func entity(_ number: Int) -> Book { Book(id: .remote("\(number)"), title: "Book \(number)") }
/// }
/// let ten = Books().entities(1...10)
/// ```
public protocol EntityFactory<E> {
  /// The type of the entities.
  associatedtype E: Entity

  /// Makes an entity.
  ///
  /// - Parameter number: The number of the entity; equal numbers give equal entities.
  /// - Returns: The entity.
  func entity(_ number: Int) -> E
}

extension EntityFactory {
  /// Makes several entities.
  ///
  /// - Parameter numbers: The numbers of the entities.
  /// - Returns: The entities, in the order of the numbers.
  public func entities(_ numbers: some Sequence<Int>) -> [E] { numbers.map(entity) }

  /// Makes an entity and changes it.
  ///
  /// - Parameters:
  ///   - number: The number of the entity.
  ///   - change: Changes the entity of this number.
  /// - Returns: The changed entity.
  public func entity(_ number: Int, _ change: (inout E) -> Void) -> E {
    var entity = entity(number)
    change(&entity)
    return entity
  }
}
