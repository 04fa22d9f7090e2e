import FoundationEssentials
import PandoManagers
import PandoStore

extension IdentifierAlias {
  init<E: Entity>(_ old: EntityIdentifier<E>, becomes new: EntityIdentifier<E>) throws {
    let json = String(
      decoding: try APIBody.makeEncoder().encode([new]).dropFirst().dropLast(), as: UTF8.self)
    self.init(old: old.modelIdentifier, new: new.modelIdentifier, json: json, text: new.text)
  }
}
