import Pando

/// An element of a list.
@Model struct Item {
  let identifier: String
  let title: String
  let number: Int

  var modelIdentifier: String { identifier }
}
