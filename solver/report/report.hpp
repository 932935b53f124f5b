#pragma once
// Written by the report part.
