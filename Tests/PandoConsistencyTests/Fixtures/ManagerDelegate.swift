import PandoConsistency
import PandoModels

/// Keeps every replacement and mistake.
final class ManagerDelegate: ConsistencyManagerDelegate {
  struct Replacement: Sendable {
    let old: any SimpleModel
    let new: (any SimpleModel)?
    let context: (any Sendable)?
  }

  let replacements = Recorder<Replacement>()
  let mistakes = Recorder<ConsistencyError>()

  var codes: [ConsistencyError.Code] { mistakes.values.map(\.code) }

  func consistencyManager(
    _ consistencyManager: ConsistencyManager, willReplace model: any SimpleModel,
    with newModel: (any SimpleModel)?, context: (any Sendable)?
  ) {
    replacements.append(Replacement(old: model, new: newModel, context: context))
  }

  func consistencyManager(
    _ consistencyManager: ConsistencyManager, found mistake: ConsistencyError
  ) {
    mistakes.append(mistake)
  }
}
