module example.com/halyard

go 1.22
