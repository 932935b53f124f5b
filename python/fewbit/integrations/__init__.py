"""fewbit in trainers. Each module imports the library that it is named after."""
